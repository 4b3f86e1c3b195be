package sequence_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/layers/sequence"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Step gives the bits of ForwardFrom, without a graph: on a tape that trains, on one that
// evaluates, on none, and within the step of another Sweep.
func TestStepIsTheSweep(t *testing.T) {
	const length, batch, in, hidden = 5, 3, 4, 6
	g := graph.Chains(length, length, length)
	x := random(3, length*batch, in).Value // chain by chain
	for name, c := range cells(in, hidden) {
		for i, p := range slices.Collect(params(c)) { // no bias is zero
			p.Value.Normal(rand.New(rand.NewPCG(uint64(i), 7)), 0.3, 0.8)
		}
		whole := c.ForwardFrom(grad.NewTape(1), g, grad.Const(x), nil)
		same := func(how string, j int, got, want *grad.Var) {
			t.Helper()
			if !slices.Equal(got.Value().Data, want.Value().Data) {
				t.Errorf("%s %s: state %d differs", name, how, j)
			}
		}
		for how, tp := range map[string]*grad.Tape{"training": grad.NewTape(1), "eval": grad.NewEval(), "no tape": nil} {
			var st message.State
			for i := range length {
				rows := []int32{int32(i), int32(i + length), int32(i + 2*length)}
				st = c.Step(tp, grad.Const(x).Rows(rows), st)
				for j := range st {
					same(how, j, st[j], whole[j].Rows(rows))
				}
			}
		}
		tp := grad.NewTape(1)
		xv := tp.Watch(x)
		init := make(message.State, len(whole))
		for i := range init {
			init[i] = grad.Const(tensor.New(1, hidden))
		}
		inner := message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State {
			return c.Step(tp, lv.Rows(xv), prev)
		})
		for j := range inner {
			same("within a Sweep", j, inner[j], whole[j])
		}
	}
}

// The gradients of steps, one after another and within a Sweep, are those of the sweep.
func TestStepGradients(t *testing.T) {
	g, x := graph.Chains(4, 4), random(3, 8, 4)
	for name, c := range cells(4, 6) {
		outcome := func(f func(tp *grad.Tape, xv *grad.Var) *grad.Var) (out []*tensor.Dense) {
			tp := grad.NewTape(1)
			grads := tp.Backward(f(tp, tp.Use(x)))
			for _, p := range append(slices.Collect(params(c)), x) {
				out = append(out, grads.Param(p).Clone())
			}
			return out
		}
		weights := grad.Const(random(9, 2, 6).Value)
		want := outcome(func(tp *grad.Tape, xv *grad.Var) *grad.Var {
			return c.ForwardFrom(tp, g, xv, nil).Rows(g.Sinks())[0].Mul(weights).Sum()
		})
		for how, got := range map[string][]*tensor.Dense{
			"one after another": outcome(func(tp *grad.Tape, xv *grad.Var) *grad.Var {
				var st message.State
				for i := range int32(4) {
					st = c.Step(tp, xv.Rows([]int32{i, i + 4}), st)
				}
				return st[0].Mul(weights).Sum()
			}),
			"within a Sweep": outcome(func(tp *grad.Tape, xv *grad.Var) *grad.Var {
				init := slices.Repeat([]*grad.Var{grad.Const(tensor.New(1, 6))}, len(c.Step(nil, grad.Const(x.Value), nil)))
				s := message.Sweep(g, init, func(lv *message.Level, prev message.State) message.State { return c.Step(tp, lv.Rows(xv), prev) })
				return s.Rows(g.Sinks())[0].Mul(weights).Sum()
			}),
		} {
			for i := range want {
				if !slices.EqualFunc(got[i].Data, want[i].Data, func(a, b tensor.Float) bool { return a-b < 1e-4*(1+max(b, -b)) && b-a < 1e-4*(1+max(b, -b)) }) {
					t.Errorf("%s %s: gradient %d is %v, of the sweep %v", name, how, i, got[i].Data, want[i].Data)
				}
			}
		}
	}
}

// A Stack's Step is its sweep, and it has none where it reads backwards.
func TestStackStep(t *testing.T) {
	s := &sequence.Stack{Layers: []sequence.Cell{&sequence.LSTM{In: 4, Hidden: 3}, &sequence.GRU{In: 3, Hidden: 5}}}
	s.Init(rand.New(rand.NewPCG(1, 1)))
	x := random(3, 6, 4).Value
	want, _ := s.ForwardFrom(nil, graph.Chains(6), grad.Const(x), nil)
	var y *grad.Var
	var st []message.State
	for i := range 6 {
		y, st = s.Step(nil, grad.Const(x.RowRange(i, i+1)), st)
		if !slices.Equal(y.Value().Data, want.Value().Row(i)) {
			t.Fatalf("step %d gives %v, the sweep %v", i, y.Value().Data, want.Value().Row(i))
		}
	}
	for why, f := range map[string]func(){
		"has no Step": func() {
			(&sequence.Stack{Layers: s.Layers[:1], Back: s.Layers[:1]}).Step(nil, grad.Const(x), nil)
		},
		"want one for each of 2 Layers": func() { s.Step(nil, grad.Const(x), st[:1]) },
	} {
		if e := misused(f); e == nil || !strings.Contains(e.Why, why) {
			t.Errorf("got %v, want a TapeError about %q", e, why)
		}
	}
}

// misused returns the TapeError that f panics with.
func misused(f func()) (e *grad.TapeError) {
	defer func() { e, _ = recover().(*grad.TapeError) }()
	f()
	return nil
}

// A state for all rows, states that do not fit, and dropout while training.
func TestStepStates(t *testing.T) {
	l := &sequence.GRU{In: 4, Hidden: 2, StateDropout: 0.5}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	x, h := grad.Const(random(1, 3, 4).Value), random(2, 1, 2)
	three := grad.Const(tensor.Of(slices.Repeat(h.Value.Data, 3), 3, 2))
	one, each := l.Step(nil, x, message.State{grad.Const(h.Value)}), l.Step(nil, x, message.State{three})
	if !slices.Equal(one[0].Value().Data, each[0].Value().Data) {
		t.Error("one state for all rows is not that state for each")
	}
	for want, f := range map[string]func(){
		"wants a row for each of x's 3": func() { l.Step(nil, x, message.State{grad.Const(tensor.New(2, 2))}) },
		"has 3 columns, Hidden is 2":    func() { l.Step(nil, x, message.State{grad.Const(tensor.New(3, 3))}) },
		"x has 2 columns, In is 4":      func() { l.Step(nil, three, nil) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about %q", err, want)
		}
	}
	if e := misused(func() { l.Step(grad.NewTape(1), x, nil) }); e == nil || !strings.Contains(e.Why, "dropout mask") {
		t.Errorf("a step while training drew a mask of its own: %v", e)
	}
	if e := misused(func() { l.Step(nil, x, message.State{nil}) }); e == nil {
		t.Error("a nil state was taken")
	}
}

// A step makes no graph: it allocates as often for 3 rows as for 300.
func TestStepAllocates(t *testing.T) {
	if sparing.Raced {
		t.Skip("the race detector allocates")
	}
	l := &sequence.LSTM{In: 4, Hidden: 6}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	tp := grad.NewEval()
	count := func(rows int) float64 {
		x, h := random(1, rows, 4).Value, random(2, rows, 6).Value
		return testing.AllocsPerRun(20, func() {
			tp.Reset()
			l.Step(tp, tp.Input(x), message.State{tp.Input(h), tp.Input(h)})
		})
	}
	count(300)
	few, many := count(3), count(300)
	if many > few+1 || few > 20 {
		t.Errorf("a step of 3 rows makes %v allocations, of 300 %v", few, many)
	}
}

// An initial state is the first child of every leaf, and gets a gradient.
func TestTreesFromAState(t *testing.T) {
	g := forest()
	for _, l := range []*sequence.TreeLSTM{{In: 3, Hidden: 2}, {In: 3, Hidden: 2, Arity: 3}} {
		l.Init(rand.New(rand.NewPCG(1, 1)))
		x, h0, c0 := random(1, g.NumNodes(), 3), random(2, len(g.Roots()), 2), random(3, len(g.Roots()), 2)
		gradtest.Check(t, []any{l, x, h0, c0}, func(tp *grad.Tape) *grad.Var {
			return weigh(l.ForwardFrom(tp, g, tp.Use(x), message.State{tp.Use(h0), tp.Use(c0)}))
		})
		leaf := g.Roots()[1]
		got := l.ForwardFrom(nil, g, grad.Const(x.Value), message.State{grad.Const(h0.Value), grad.Const(c0.Value)})
		want := l.Step(nil, grad.Const(x.Value.RowRange(int(leaf), int(leaf)+1)), message.State{grad.Const(h0.Value.RowRange(1, 2)), grad.Const(c0.Value.RowRange(1, 2))})
		for i := range got {
			if !slices.Equal(got[i].Value().Row(int(leaf)), want[i].Value().Data) {
				t.Errorf("Arity %d: state %d of a leaf is not a step from its initial state", l.Arity, i)
			}
		}
	}
}
