package sequence_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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

// chained are cells that go chain by chain.
func chained(in, hidden int) map[string]sequence.Cell {
	all := map[string]sequence.Cell{
		"lstm":         &sequence.LSTM{In: in, Hidden: hidden, ForgetBias: 1},
		"lstm dropout": &sequence.LSTM{In: in, Hidden: hidden, NoBias: true, InputDropout: 0.3, StateDropout: 0.4},
		"gru":          &sequence.GRU{In: in, Hidden: hidden},
		"gru admits":   &sequence.GRU{In: in, Hidden: hidden, UpdateAdmits: true, NoBias: true},
		"gru dropout":  &sequence.GRU{In: in, Hidden: hidden, StateDropout: 0.4},
		"rnn":          &sequence.RNN{In: in, Hidden: hidden},
		"rnn dropout":  &sequence.RNN{In: in, Hidden: hidden, StateDropout: 0.4},
	}
	for _, a := range []grad.Activation{grad.ReLU, grad.Sigmoid, grad.ELU} {
		all["rnn "+string(a)] = &sequence.RNN{In: in, Hidden: hidden, Activation: a}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		all[name].Init(rand.New(rand.NewPCG(1, 1)))
		for i, p := range slices.Collect(params(all[name])) {
			p.Value.Normal(rand.New(rand.NewPCG(uint64(i), 7)), 0.1, 0.3) // no bias is zero
		}
	}
	return all
}

// chainRun is a cell on chains, and what is asked of it.
type chainRun struct {
	c      sequence.Cell
	g      *graph.Graph
	x      *grad.Param
	init   []*grad.Param // nil: zeros
	frozen *grad.Param   // or nil
	last   bool          // the last state alone is read
}

// loss weighs the states.
func (r chainRun) loss(tp *grad.Tape) *grad.Var {
	s := r.states(tp)
	if r.last {
		return weigh(s[len(s)-1:])
	}
	return weigh(s)
}

func (r chainRun) states(tp *grad.Tape) message.State {
	var init message.State
	for _, p := range r.init {
		init = append(init, tp.Use(p))
	}
	return r.c.ForwardFrom(tp, r.g, tp.Use(r.x), init)
}

// outcome are the states and all gradients, of two calls of Backward.
func (r chainRun) outcome(tp *grad.Tape) (out []*tensor.Dense) {
	if r.frozen != nil {
		r.frozen.Frozen = true
		defer func() { r.frozen.Frozen = false }()
	}
	loss := r.loss(tp)
	for range 2 {
		for _, g := range tp.Backward(loss) {
			out = append(out, g.Value.Clone())
		}
	}
	tp.Reset()
	tp.SetStep(0)
	for _, s := range r.states(tp) {
		out = append(out, s.Value().Clone())
	}
	return out
}

// chainRuns are runs of every kind: chains of one length and of any, one chain, nodes without edges, states before the
// roots, frozen Params, a gradient of weights that is cut into parts, and the last state alone.
func chainRuns() map[string]chainRun {
	const in, hidden = 5, 7
	runs := map[string]chainRun{}
	for name, c := range chained(in, hidden) {
		for shape, lengths := range map[string][]int{
			"equal": {6, 6, 6, 6, 6, 6, 6}, "ragged": {3, 1, 9, 4, 1, 1, 5, 9, 2, 7, 7}, "one": {11}, "long": slices.Repeat([]int{4, 41}, 52),
		} {
			g := graph.Chains(lengths...)
			r := chainRun{c: c, g: g, x: random(2, g.NumNodes(), in)}
			states := len(c.ForwardFrom(nil, graph.Chains(1), grad.Const(tensor.New(1, in)), nil))
			runs[name+" "+shape] = r
			for before, rows := range map[string]int{"shared": 1, "before": len(lengths)} {
				if shape == "long" {
					continue
				}
				from := r
				for i := range states {
					from.init = append(from.init, random(uint64(7+i), rows, hidden))
				}
				from.last = rows == 1
				runs[name+" "+shape+" "+before] = from
			}
			if shape == "ragged" {
				i := 0
				for p := range params(c) {
					r.frozen = p
					runs[fmt.Sprintf("%s frozen %d", name, i)] = r
					i++
				}
			}
		}
	}
	return runs
}

// A recurrence that goes chain by chain has the bits of one that goes level by level, in all states and gradients,
// on any number of threads.
func TestChainsAreTheSweep(t *testing.T) {
	runs := chainRuns()
	for i, name := range slices.Sorted(maps.Keys(runs)) {
		r, undo := runs[name], sequence.Swept()
		want := r.outcome(grad.NewTape(3))
		undo()
		for _, threads := range []int{1, 2, 3, 8, 16} {
			if sparing.Raced && (i+threads)%5 > 0 {
				continue
			}
			back := par.SetThreads(threads)
			compare.Arrays(t, fmt.Sprintf("%s on %d", name, threads), r.outcome(grad.NewTape(3)), want, compare.Exactly)
			back()
		}
	}
}

// The same holds where the recurrence stands in another one, in a checkpointed function, on a tape that evaluates and
// in a set of packed weights.
func TestChainsWithin(t *testing.T) {
	g, outer := graph.Chains(5, 4, 6), graph.Chains(3, 2)
	for name, c := range chained(5, 5) {
		r := chainRun{c: c, g: g, x: random(2, g.NumNodes(), 5)}
		nested := func(tp *grad.Tape) []*tensor.Dense { // the state moves by what it makes of x
			x := tp.Use(r.x)
			s := message.Sweep(outer, message.State{tp.Use(random(4, 2, 5))}, func(lv *message.Level, prev message.State) message.State {
				y := c.ForwardFrom(tp, g, x.Add(prev[0].SumAxis(0).Reshape(1, 5)), nil)[0]
				prev[0] = prev[0].Add(y.RowRange(0, len(lv.Nodes()))).Tanh()
				return prev
			})
			out := []*tensor.Dense{s[0].Value().Clone()}
			for _, g := range tp.Backward(weigh(s)) {
				out = append(out, g.Value.Clone())
			}
			return out
		}
		again := func(tp *grad.Tape) (out []*tensor.Dense) {
			for _, g := range tp.Backward(weigh(message.State{tp.Checkpoint(func(xs ...*grad.Var) *grad.Var { return c.ForwardFrom(tp, g, xs[0], nil)[0] }, tp.Use(r.x))})) {
				out = append(out, g.Value.Clone())
			}
			return out
		}
		packed := func(*grad.Tape) (out []*tensor.Dense) {
			var w grad.Weights
			for range 3 {
				tp := grad.NewEval()
				tp.UseWeights(&w)
				out = append(out, r.states(tp)[0].Value().Clone())
			}
			return out
		}
		for how, f := range map[string]func(*grad.Tape) []*tensor.Dense{"nested": nested, "checkpoint": again, "packed": packed} {
			undo := sequence.Swept()
			want := f(grad.NewTape(3))
			undo()
			compare.Arrays(t, name+" "+how, f(grad.NewTape(3)), want, compare.Exactly)
		}
	}
}

// The gradients are those of finite differences, from states before the roots.
func TestChainsGradients(t *testing.T) {
	g := graph.Chains(4, 1, 6)
	for name, c := range chained(3, 2) {
		x, h := random(1, 11, 3), []*grad.Param{random(2, 3, 2), random(3, 3, 2)}
		r := chainRun{c: c, g: g, x: x, init: h[:len(c.ForwardFrom(nil, graph.Chains(1), grad.Const(tensor.New(1, 3)), nil))]}
		if name == "rnn relu" {
			continue // which differences cross the kink of
		}
		of := []any{c, x}
		for _, p := range r.init {
			of = append(of, p)
		}
		t.Run(name, func(t *testing.T) { gradtest.Check(t, of, r.loss) })
	}
}

// However long the chains are, threads meet as often.
func TestChainsAreOneLoop(t *testing.T) {
	for name, c := range chained(5, 7) {
		loops := func(length int) int {
			g := graph.Chains(slices.Repeat([]int{length}, 9)...)
			r := chainRun{c: c, g: g, x: random(2, g.NumNodes(), 5)}
			tp := grad.NewTape(1)
			stop := par.StartRecord()
			tp.Backward(r.loss(tp))
			return len(stop().Loops)
		}
		if few, many := loops(5), loops(25); few == 0 || many > few {
			t.Errorf("%s: %d loops for chains of 25, %d for chains of 5", name, many, few)
		}
	}
}

// Measure knows what a recurrence takes, to the byte.
func TestChainsMeasure(t *testing.T) {
	runs := chainRuns()
	for _, name := range slices.Sorted(maps.Keys(runs)) {
		tp := grad.NewTape(1)
		tp.Backward(runs[name].loss(tp))
		if got, want := grad.Measure(runs[name].loss), tp.Stats(); got != want {
			t.Errorf("%s: predicted %+v, needed %+v", name, got, want)
		}
		eval := grad.NewEval()
		runs[name].states(eval)
		if got, want := grad.MeasureEval(func(tp *grad.Tape) { runs[name].states(tp) }), eval.Stats(); got != want {
			t.Errorf("%s, evaluated: predicted %+v, needed %+v", name, got, want)
		}
	}
}
