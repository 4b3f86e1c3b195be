package memory_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/memory"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A batch of no steps gives no rows, and trains nothing: gradients of zero.
func TestBatchOfNothing(t *testing.T) {
	type machine interface {
		Init(rng *rand.Rand)
		Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
	}
	for name, m := range map[string]machine{
		"ntm, LSTM":         &memory.NTM{In: 2, Out: 3, Hidden: 4, Slots: 5, Width: 3},
		"ntm, feed-forward": &memory.NTM{In: 2, Out: 3, Controller: memory.FeedForwardController, Hidden: 4, Slots: 5, Width: 3},
		"stack":             &memory.StackMachine{In: 2, Out: 3, Hidden: 4, Stack: memory.StackMemory{Slots: 5, Width: 3}},
		"fast weights":      &memory.FastWeights{In: 2, Hidden: 3, Steps: 1},
	} {
		m.Init(rand.New(rand.NewPCG(1, 1)))
		for _, g := range []*graph.Graph{graph.Chains(), graph.Chains(0, 0)} {
			tape := grad.NewTape(1)
			y := m.Forward(tape, g, tape.Input(tensor.New(0, 2)))
			if !slices.Equal(y.Shape(), []int{0, 3}) {
				t.Errorf("%s: the result has the shape %v", name, y.Shape())
			}
			for i, g := range tape.Backward(y.Sum()) {
				if slices.ContainsFunc(g.Value.Data, func(v tensor.Float) bool { return v != 0 }) {
					t.Errorf("%s: gradient %d is %v", name, i, g.Value.Data)
				}
			}
		}
	}
}
