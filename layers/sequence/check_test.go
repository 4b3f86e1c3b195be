package sequence_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Inputs that do not fit, and a forgotten Init, are told in the name of the layer.
func TestErrorNamesLayer(t *testing.T) {
	type layer interface {
		Init(*rand.Rand)
		Forward(*grad.Tape, *graph.Graph, *grad.Var) *grad.Var
	}
	g, x := graph.Chains(2, 1), grad.Const(tensor.New(3, 4))
	rows := func(n, d int) *grad.Var { return grad.Const(tensor.New(n, d)) }
	rnn, gru, lstm, tree := &sequence.RNN{In: 4, Hidden: 2}, &sequence.GRU{In: 4, Hidden: 2}, &sequence.LSTM{In: 4, Hidden: 2}, &sequence.TreeLSTM{In: 4, Hidden: 2}
	for op, l := range map[string]layer{"sequence.RNN": rnn, "sequence.GRU": gru, "sequence.LSTM": lstm, "sequence.TreeLSTM": tree} {
		shape := func(want string, f func()) {
			t.Helper()
			var e *tensor.ShapeError
			if err := tensor.Try(f); !errors.As(err, &e) || e.Op != op || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want a ShapeError of %s about %q", err, op, want)
			}
		}
		misuse := func(want string, f func()) {
			t.Helper()
			defer func() {
				t.Helper()
				if e, ok := recover().(*grad.TapeError); !ok || e.Op != op || !strings.Contains(e.Why, want) {
					t.Errorf("got %v, want a TapeError of %s about %q", e, op, want)
				}
			}()
			f()
		}
		misuse("Init called", func() { l.Forward(nil, g, x) })
		l.Init(rand.New(rand.NewPCG(1, 1)))
		shape("x has 5 columns, In is 4", func() { l.Forward(nil, g, rows(3, 5)) })
		shape("the graph has 3 nodes", func() { l.Forward(nil, g, rows(2, 4)) })
		misuse("graph is nil", func() { l.Forward(nil, nil, x) })
		misuse("x is nil", func() { l.Forward(nil, g, nil) })
		if c, ok := l.(sequence.Cell); ok {
			misuse("want", func() { c.ForwardFrom(nil, g, x, message.State{}) })
			misuse("want", func() { c.ForwardFrom(nil, g, x, message.State{rows(1, 2), rows(1, 2), rows(1, 2)}) })
		}
	}
	lstm.Hidden, gru.Hidden = 3, 0
	for _, l := range []layer{lstm, gru} {
		if err := tensor.Try(func() { l.Forward(nil, g, x) }); err == nil || !strings.Contains(err.Error(), "set Hidden first, then call Init") {
			t.Errorf("changed after Init: %v", err)
		}
	}
	if err := tensor.Try(func() { rnn.ForwardFrom(nil, g, x, message.State{rows(1, 3)}) }); err == nil || !strings.Contains(err.Error(), "the initial state has 3 columns, Hidden is 2") {
		t.Errorf("a state that is too wide: %v", err)
	}
}

// A state of another width, a graph with a cycle, and a batch of nothing: of every cell.
func TestBadInputOfCells(t *testing.T) {
	ring, x := graph.Must(graph.New(3, []int32{0, 1, 2}, []int32{1, 2, 0})), grad.Const(tensor.New(3, 3))
	for name, c := range cells(3, 2) {
		var wide message.State
		for range c.ForwardFrom(nil, graph.Chains(3), x, nil) {
			wide = append(wide, grad.Const(tensor.New(1, 5)))
		}
		for what, f := range map[string]func(){
			"ForwardFrom": func() { c.ForwardFrom(nil, graph.Chains(2, 1), x, wide) }, "Step": func() { c.Step(nil, x, wide) },
		} {
			if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), "the initial state has 5 columns, Hidden is 2") {
				t.Errorf("%s: %s of a state that is too wide: %v", name, what, err)
			}
		}
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || err.Error() != "graph: cycle through nodes 0 → 1 → 2 → 0" {
					t.Errorf("%s: a ring: %v", name, err)
				}
			}()
			c.ForwardFrom(nil, ring, x, nil)
		}()
		for _, none := range []*graph.Graph{graph.Chains(), graph.Chains(0, 0)} {
			tape := grad.NewTape(1)
			s := c.ForwardFrom(tape, none, tape.Watch(tensor.New(0, 3)), nil)
			if s[0].Dim(0) != 0 || s[0].Dim(1) != 2 || !s[0].Needs() {
				t.Errorf("%s: no chains give the shape %v, want no rows, on the tape", name, s[0].Shape())
			}
		}
	}
}
