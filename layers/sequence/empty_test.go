package sequence_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A batch without a step gives no rows, and trains nothing: gradients of zero.
func TestBatchOfNothing(t *testing.T) {
	type layer interface {
		Init(rng *rand.Rand)
		Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var
	}
	for name, l := range map[string]layer{
		"RNN":       &sequence.RNN{In: 2, Hidden: 3},
		"GRU":       &sequence.GRU{In: 2, Hidden: 3, InputDropout: 0.5, StateDropout: 0.5},
		"LSTM":      &sequence.LSTM{In: 2, Hidden: 3, InputDropout: 0.5, StateDropout: 0.5},
		"peephole":  &sequence.LSTM{In: 2, Hidden: 3, Peephole: sequence.DiagonalPeephole},
		"TreeLSTM":  &sequence.TreeLSTM{In: 2, Hidden: 3},
		"binary":    &sequence.TreeLSTM{In: 2, Hidden: 3, Arity: 2},
		"recursive": &sequence.Recursive{In: 2, Hidden: 3},
	} {
		l.Init(rand.New(rand.NewPCG(1, 1)))
		tape := grad.NewTape(1)
		y := l.Forward(tape, graph.Chains(0), tape.Input(tensor.New(0, 2)))
		if !slices.Equal(y.Shape(), []int{0, 3}) {
			t.Errorf("%s: the result has the shape %v", name, y.Shape())
		}
		for i, g := range tape.Backward(y.Sum()) { // of a constant it panics
			if slices.ContainsFunc(g.Value.Data, func(v tensor.Float) bool { return v != 0 }) {
				t.Errorf("%s: gradient %d is %v", name, i, g.Value.Data)
			}
		}
	}
}
