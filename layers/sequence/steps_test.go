package sequence_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// cells returns a cell of every kind and form.
func cells(in, hidden int) map[string]sequence.Cell {
	out := map[string]sequence.Cell{
		"rnn":      &sequence.RNN{In: in, Hidden: hidden},
		"rnn relu": &sequence.RNN{In: in, Hidden: hidden, Activation: grad.ReLU},
		"rnn silu": &sequence.RNN{In: in, Hidden: hidden, Activation: grad.SiLU}, // whose slope the result does not tell
		"gru":      &sequence.GRU{In: in, Hidden: hidden},
		"gru old":  &sequence.GRU{In: in, Hidden: hidden, ResetBefore: true},
		"lstm":     &sequence.LSTM{In: in, Hidden: hidden},
		"peephole": &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.DiagonalPeephole},
		"full":     &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.FullPeephole},
		"peep old": &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.DiagonalPeephole, PeepOld: true},
		"full old": &sequence.LSTM{In: in, Hidden: hidden, Peephole: sequence.FullPeephole, PeepOld: true},

		"rnn leaky":    &sequence.RNN{In: in, Hidden: hidden, Leak: 0.3},
		"rnn learnt":   &sequence.RNN{In: in, Hidden: hidden, LearnLeak: true, LayerNorm: true},
		"rnn residual": &sequence.RNN{In: in, Hidden: hidden, Residual: true},
		"gru admits":   &sequence.GRU{In: in, Hidden: hidden, UpdateAdmits: true},
		"gru norm":     &sequence.GRU{In: in, Hidden: hidden, LayerNorm: true},
		"minimal":      &sequence.GRU{In: in, Hidden: hidden, Minimal: true},
		"minimal old":  &sequence.GRU{In: in, Hidden: hidden, Minimal: true, ResetBefore: true, LayerNorm: true},
		"lstm none":    &sequence.LSTM{In: in, Hidden: hidden, Forget: sequence.NoForget},
		"lstm coupled": &sequence.LSTM{In: in, Hidden: hidden, Forget: sequence.CoupledForget, Chrono: 20},
		"coupled full": &sequence.LSTM{In: in, Hidden: hidden, Forget: sequence.CoupledForget, Peephole: sequence.FullPeephole},
		"coupled peep": &sequence.LSTM{In: in, Hidden: hidden, Forget: sequence.CoupledForget, Peephole: sequence.DiagonalPeephole},
		"lstm norm":    &sequence.LSTM{In: in, Hidden: hidden, LayerNorm: true},
		"admits old":   &sequence.GRU{In: in, Hidden: hidden, UpdateAdmits: true, ResetBefore: true},
		"child-sum":    &sequence.TreeLSTM{In: in, Hidden: hidden},
		"binary":       &sequence.TreeLSTM{In: in, Hidden: hidden, Arity: 2},
		"binary own":   &sequence.TreeLSTM{In: in, Hidden: hidden, Arity: 2, OwnChild: true},
		"recursive":    &sequence.Recursive{In: in, Hidden: hidden},
	}
	for _, c := range out {
		c.Init(rand.New(rand.NewPCG(1, 1)))
	}
	return out
}

// One step at a time, as in generation, gives the bits of the whole chains: on a
// tape that trains, on one that evaluates, and on none.
func TestStepsAreTheSweep(t *testing.T) {
	const length, batch, hidden = 5, 3, 6
	x := random(3, length*batch, width).Value // chain by chain
	all := cells(width, hidden)
	for _, n := range networks() { // which have every variant, on several graphs
		if c, isCell := n.layer.(sequence.Cell); isCell && n.name != "recursive words" && !strings.Contains(n.name, " on ") {
			all[n.name] = c
		}
	}
	for name, c := range all {
		whole := c.ForwardFrom(grad.NewTape(1), graph.Chains(length, length, length), grad.Const(x), nil)
		for _, tp := range []*grad.Tape{grad.NewTape(1), grad.NewEval(), nil} {
			var st message.State
			for i := range length {
				rows := []int32{int32(i), int32(i + length), int32(i + 2*length)}
				st = c.ForwardFrom(tp, graph.Chains(1, 1, 1), grad.Const(x).Rows(rows), st)
				for j := range st {
					if !slices.Equal(st[j].Value().Data, whole[j].Rows(rows).Value().Data) {
						t.Fatalf("%s: state %d differs at step %d", name, j, i)
					}
				}
			}
		}
	}
}

// Segments with a kept state between them give the bits of the whole chains.
func TestSegments(t *testing.T) {
	x := random(3, 10, 4).Value
	for name, c := range cells(4, 6) {
		whole := c.ForwardFrom(nil, graph.Chains(10), grad.Const(x), nil)[0]
		tp, g := grad.NewTape(1), graph.Chains(5)
		first := c.ForwardFrom(tp, g, grad.Const(x.RowRange(0, 5)), nil).Rows(g.Sinks()).Keep()
		tp.Reset()
		second := c.ForwardFrom(tp, g, grad.Const(x.RowRange(5, 10)), first)[0]
		if !slices.Equal(second.Value().Data, whole.RowRange(5, 10).Value().Data) {
			t.Errorf("%s: the second segment differs", name)
		}
	}
}

// Values and gradients have the same bits on any number of threads.
func TestThreads(t *testing.T) {
	g := graph.Chains(slices.Repeat([]int{3, 11, 7, 1}, 12)...)
	const in, hidden = 20, 48
	x := random(3, g.NumNodes(), in).Value
	all := cells(in, hidden)
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if sparing.Raced && i%3 > 0 {
			continue // the detector is slow, and what it looks for are accesses
		}
		c := all[name]
		run := func(threads int) (out [][]tensor.Float) {
			defer par.SetThreads(threads)()
			tp := grad.NewTape(1)
			s := c.ForwardFrom(tp, g, tp.Watch(x), nil)
			for _, y := range s {
				out = append(out, slices.Clone(y.Value().Data))
			}
			for _, d := range tp.Backward(weigh(s)) {
				out = append(out, slices.Clone(d.Value.Data))
			}
			return out
		}
		want := run(1)
		for _, n := range sparing.Threads() {
			if !slices.EqualFunc(run(n), want, slices.Equal) {
				t.Errorf("%s: %d threads give other bits than one", name, n)
			}
		}
	}
}

// The number of operations on the tape does not grow with the chains.
func TestOperationsDoNotGrow(t *testing.T) {
	for name, c := range cells(4, 6) {
		count := func(length int) int {
			tp := grad.NewTape(1)
			c.ForwardFrom(tp, graph.Chains(length, length), grad.Const(random(3, 2*length, 4).Value), nil)
			return tp.Stats().Ops
		}
		if few, many := count(2), count(150); few != many {
			t.Errorf("%s: chains of 2 make %d operations, of 150 %d", name, few, many)
		}
	}
}

// The fused gates, with and without a gradient for each operand.
func TestGRUGates(t *testing.T) {
	a, q, h, b := random(1, 3, 6), random(2, 3, 6), random(3, 3, 2), random(4, 2)
	all := []*grad.Param{a, q, h, b}
	for skip := -1; skip < len(all); skip++ { // the operand that has no gradient
		var trained []*grad.Param
		for i, p := range all {
			if i != skip {
				trained = append(trained, p)
			}
		}
		gradtest.Check(t, trained, func(tp *grad.Tape) *grad.Var {
			var v []*grad.Var
			for i, p := range all {
				if v = append(v, grad.Const(p.Value)); i != skip {
					v[i] = tp.Use(p)
				}
			}
			return weigh(message.State{sequence.GRUGates(v[0], v[1], v[2], v[3])})
		})
	}
	gradtest.Check(t, all[:3], func(tp *grad.Tape) *grad.Var {
		return weigh(message.State{sequence.GRUGates(tp.Use(a), tp.Use(q), tp.Use(h), nil)})
	})
	for name, f := range map[string]func(){
		"narrow": func() { sequence.GRUGates(grad.Const(h.Value), grad.Const(q.Value), grad.Const(h.Value), nil) },
		"bias": func() {
			sequence.GRUGates(grad.Const(a.Value), grad.Const(q.Value), grad.Const(h.Value), grad.Const(h.Value))
		},
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Gates without peepholes, with and without a gradient for each operand.
func TestPlainLSTMGates(t *testing.T) {
	z, c := random(1, 3, 8), random(2, 3, 2)
	for _, f := range []func(tp *grad.Tape) (z, c *grad.Var){
		func(tp *grad.Tape) (*grad.Var, *grad.Var) { return tp.Use(z), tp.Use(c) },
		func(tp *grad.Tape) (*grad.Var, *grad.Var) { return tp.Use(z), tp.Use(c).Detach() },
		func(tp *grad.Tape) (*grad.Var, *grad.Var) { return tp.Use(z).Detach(), tp.Use(c) },
	} {
		tp := grad.NewTape(1)
		zv, cv := f(tp)
		var trained []*grad.Param
		if zv.Needs() {
			trained = append(trained, z)
		}
		if cv.Needs() {
			trained = append(trained, c)
		}
		gradtest.Check(t, trained, func(tp *grad.Tape) *grad.Var {
			zv, cv := f(tp)
			h, next := sequence.LSTMGates(zv, cv, nil, false)
			return weigh(message.State{h, next})
		})
	}
}

// A bidirectional stack is its cells on the graph and on its reverse.
func TestStack(t *testing.T) {
	g := graph.Chains(4, 1, 3)
	x := random(1, g.NumNodes(), 3)
	a, b := &sequence.GRU{In: 3, Hidden: 2}, &sequence.LSTM{In: 3, Hidden: 2}
	c, d := &sequence.RNN{In: 4, Hidden: 3}, &sequence.RNN{In: 4, Hidden: 2}
	s := &sequence.Stack{Layers: []sequence.Cell{a, c}, Back: []sequence.Cell{b, d}}
	s.Init(rand.New(rand.NewPCG(1, 1)))
	xv := grad.Const(x.Value)
	y := grad.Concat(a.Forward(nil, g, xv), b.Forward(nil, graph.Reverse(g), xv))
	want := grad.Concat(c.Forward(nil, g, y), d.Forward(nil, graph.Reverse(g), y))
	if got := s.Forward(nil, g, xv); !slices.Equal(got.Value().Data, want.Value().Data) {
		t.Errorf("got %v, want %v", got.Value().Data, want.Value().Data)
	}
	s.Dropout = 0.5
	gradtest.Check(t, []any{s, x}, func(tp *grad.Tape) *grad.Var { return weigh(message.State{s.Forward(tp, g, tp.Use(x))}) })
	for what, wrong := range map[string]*sequence.Stack{
		"two layers with one backward cell": {Layers: s.Layers, Back: s.Back[:1]}, "no layers": {},
	} {
		for _, f := range []func(){func() { wrong.Forward(nil, g, xv) }, func() { wrong.Init(rand.New(rand.NewPCG(1, 1))) }} {
			var err *grad.TapeError
			func() {
				defer func() { err, _ = recover().(*grad.TapeError) }()
				f()
			}()
			if err == nil {
				t.Errorf("%s: taken", what)
			}
		}
	}
}

// Rows that are not one a node are refused by a message that names both numbers.
func TestRowMisfits(t *testing.T) {
	for name, c := range cells(3, 2) {
		for _, rows := range []int{3, 5} {
			err := tensor.Try(func() { c.ForwardFrom(nil, graph.Chains(3, 1), grad.Const(tensor.New(rows, 3)), nil) })
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("[%d 3]: the graph has 4 nodes", rows)) {
				t.Errorf("%s of %d rows: %v", name, rows, err)
			}
		}
	}
}

// Weights that are not trained leave the gradients of the others as they are.
func TestFrozen(t *testing.T) {
	g, x := graph.Chains(3, 4), random(1, 7, 3)
	for name, c := range cells(3, 2) {
		run := func(tp *grad.Tape) (grad.Grads, []*grad.Param) {
			gs := tp.Backward(weigh(c.ForwardFrom(tp, g, grad.Const(x.Value), nil)))
			return gs, slices.Collect(params(c))
		}
		want, all := run(grad.NewTape(1))
		for _, frozen := range all {
			frozen.Frozen = true
			got, _ := run(grad.NewTape(1))
			frozen.Frozen = false
			if got.Param(frozen) != nil {
				t.Errorf("%s: a frozen Param has a gradient", name)
			}
			for _, p := range all {
				if p != frozen {
					compare.Near(t, name+" with a frozen Param: a gradient", got.Param(p).Data, want.Param(p).Data, compare.Off(1e-5, 0))
				}
			}
		}
	}
}
