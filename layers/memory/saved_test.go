package memory_test

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Machines come back from a file as they were.
func TestSavedMachines(t *testing.T) {
	type net interface {
		Init(rng *rand.Rand)
		Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
	}
	for _, make := range []func() net{
		func() net { return &memory.NTM{In: 2, Out: 1, Hidden: 3, Slots: 4, Width: 2, Reads: 2} },
		func() net {
			return &memory.NTM{In: 2, Out: 1, Hidden: 3, Slots: 4, Width: 2, Controller: memory.FeedForwardController}
		},
		func() net {
			return &memory.StackMachine{In: 2, Out: 1, Hidden: 3, Stack: memory.StackMemory{Width: 2, Slots: 3, Queue: true}}
		},
	} {
		path := filepath.Join(t.TempDir(), "m.safetensors")
		a, b := make(), make()
		a.Init(rand.New(rand.NewPCG(1, 1)))
		b.Init(rand.New(rand.NewPCG(2, 1)))
		if err := grad.CheckParams(a); err != nil {
			t.Error(err)
		}
		if err := train.Save(path, a); err != nil {
			t.Fatal(err)
		}
		if err := train.Load(path, b); err != nil {
			t.Fatal(err)
		}
		say := func(n net) []tensor.Float {
			return n.Forward(nil, graph.Chains(3), grad.Const(normal(1, 3, 2))).Value().Data
		}
		if !slices.Equal(say(a), say(b)) {
			t.Errorf("%T says something else after it was loaded", a)
		}
	}
}
