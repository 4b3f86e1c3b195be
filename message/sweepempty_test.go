package message_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A Sweep over no nodes has results of no rows, and what its step uses a gradient of zero: an
// empty batch trains nothing, and is no special case. One init is constant, so that the tape is
// that of the step.
func TestSweepOfNothing(t *testing.T) {
	none := graph.Chains()
	w, x := param(1, 3, 3), param(2, 0, 3)
	for name, init := range map[string]func(tape *grad.Tape) *grad.Var{
		"constant":  func(*grad.Tape) *grad.Var { return grad.Const(tensor.New(1, 3)) },
		"learnt":    func(tape *grad.Tape) *grad.Var { return tape.Use(param(3, 1, 3)) },
		"of no row": func(tape *grad.Tape) *grad.Var { return tape.Use(param(3, 0, 3)) },
	} {
		tape := grad.NewTape(1)
		h := message.Sweep(none, message.State{init(tape)}, recur(tape.Use(w), tape.Use(x)))[0]
		if !slices.Equal(h.Shape(), []int{0, 3}) {
			t.Errorf("%s: a state of shape %v, want no rows of 3", name, h.Shape())
		}
		zero(t, name, tape.Backward(h.Sum()).Param(w))
	}
	p := newLocation(nil, nil)
	tape := grad.NewTape(1)
	s := p.run(tape, none, graph.CompleteBipartite(0, 0))
	g := tape.Backward(weigh(s[0]).Add(weigh(s[1])).Add(weigh(s[2])))
	for _, of := range []*grad.Param{p.F, p.U, p.C, p.Q, p.W, p.Score} {
		zero(t, "with states on edges", g.Param(of))
	}
}

// zero reports a gradient that is not.
func zero(t *testing.T, name string, d *tensor.Dense) {
	t.Helper()
	if d == nil || slices.ContainsFunc(d.Data, func(v tensor.Float) bool { return v != 0 }) {
		t.Errorf("%s: the gradient is %v, want zeros", name, d)
	}
}
