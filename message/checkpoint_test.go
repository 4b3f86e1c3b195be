package message_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// plainly calls a function as Checkpoint does.
func plainly(_ *grad.Tape, f func(xs ...*grad.Var) *grad.Var, xs ...*grad.Var) *grad.Var {
	return f(xs...)
}

// TestCheckpointMessages runs messages and a sweep, with dropout, twice.
func TestCheckpointMessages(t *testing.T) {
	ring := graph.Must(graph.New(6, []int32{0, 1, 2, 3, 4, 5, 0}, []int32{1, 2, 3, 4, 5, 0, 3}))
	chains := graph.Chains(4, 2)
	x, w := param(1, 6, 5), param(2, 5, 5)
	run := func(call func(t *grad.Tape, f func(xs ...*grad.Var) *grad.Var, xs ...*grad.Var) *grad.Var) (bits []tensor.Float) {
		tape := grad.NewTape(3)
		f := func(xs ...*grad.Var) *grad.Var {
			h := xs[0].MatMul(tape.Use(w)).Tanh()
			m := message.UAddV(h, h).Softmax().Dropout(tape, 0.3).Mul(message.U(h))
			h = message.UpdateAll(ring, m, message.Sum)
			start := message.State{h.RowRange(0, 1)}
			s := message.Sweep(chains, start, func(l *message.Level, prev message.State) message.State {
				last := message.UpdateAll(l.In, message.CopyU(prev[0]), message.Sum)
				return message.State{last.MatMul(tape.Use(w)).Add(l.Rows(h)).Tanh()}
			})
			return tape.Dropout(s[0], 0.2)
		}
		y := call(tape, f, call(tape, f, tape.Use(x)))
		bits = append(bits, y.Value().Data...)
		for _, g := range tape.Backward(weigh(y)) {
			bits = append(bits, g.Value.Data...)
		}
		return bits
	}
	if got, want := run((*grad.Tape).Checkpoint), run(plainly); !slices.Equal(got, want) {
		t.Errorf("with a checkpoint %v, without %v", got, want)
	}
}
