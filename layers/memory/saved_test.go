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

// So do memory networks and fast weights.
func TestSavedMemories(t *testing.T) {
	story := []memory.Story{{Sentences: [][]int32{{1, 2}}, Values: [][]int32{{3}}, Question: []int32{1}}}
	type net interface{ Init(rng *rand.Rand) }
	for _, c := range []struct {
		make func() net
		say  func(n net) []tensor.Float
	}{
		{func() net { return &memory.MemN2N{Vocab: 4, Dim: 2, Hops: 2} }, func(n net) []tensor.Float {
			m := n.(*memory.MemN2N)
			return m.Forward(nil, batchOf(t, m, story...)).Value().Data
		}},
		{func() net { return &memory.MemN2N{Vocab: 4, Dim: 2, Tying: memory.LayerWise} }, func(n net) []tensor.Float {
			m := n.(*memory.MemN2N)
			return m.Forward(nil, batchOf(t, m, story...)).Value().Data
		}},
		{func() net { return &memory.KeyValue{Vocab: 4, Dim: 2, Answers: 3} }, func(n net) []tensor.Float {
			m := n.(*memory.KeyValue)
			return m.Forward(nil, filedOf(t, m, story...)).Value().Data
		}},
		{func() net { return &memory.FastWeights{In: 2, Hidden: 3, Steps: 1} }, func(n net) []tensor.Float {
			return n.(*memory.FastWeights).Forward(nil, graph.Chains(3), grad.Const(normal(1, 3, 2))).Value().Data
		}},
	} {
		path := filepath.Join(t.TempDir(), "m.safetensors")
		a, b := c.make(), c.make()
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
		if !slices.Equal(c.say(a), c.say(b)) {
			t.Errorf("%T says something else after it was loaded", a)
		}
	}
}
