package message_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// cell is a small network with two states, of which one passes through
// attention to inputs:
//
//	c_v = Σ_u c_u ⊙ σ(K[kind]) + Σ_e edge      h_v = tanh(W·[Σ_u h_u] + x_v + c_v + attend(h̄))
type cell struct{ W, K, X, Edge, Mem, H0, C0 *grad.Param }

const cellWidth = 3

func newCell(g *graph.Graph, roots int) *cell {
	n, e := g.NumNodes(), g.NumEdges()
	return &cell{W: param(1, cellWidth, cellWidth), K: param(2, 4, cellWidth), X: param(3, n, cellWidth), Edge: param(4, e, cellWidth),
		Mem: param(5, 5, cellWidth), H0: param(6, roots, cellWidth), C0: param(7, roots, cellWidth)}
}

// memory lets every node of g attend to all but one of five inputs.
func memory(g *graph.Graph) *graph.Graph {
	var src, dst []int32
	for v := range int32(g.NumNodes()) {
		for u := range int32(5) {
			if u != v%5 {
				src, dst = append(src, u), append(dst, v)
			}
		}
	}
	return graph.Must(graph.NewBipartite(5, g.NumNodes(), src, dst))
}

func (c *cell) init(t *grad.Tape) message.State { return message.State{t.Use(c.H0), t.Use(c.C0)} }

func (c *cell) run(t *grad.Tape, g *graph.Graph) message.State {
	w, k, x, edge, mem := t.Use(c.W), t.Use(c.K), t.Use(c.X), t.Use(c.Edge), t.Use(c.Mem)
	att := memory(g)
	return message.Sweep(g, c.init(t), func(l *message.Level, prev message.State) message.State {
		in := message.U(prev[1])
		if g.Kinds() != nil {
			in = in.Mul(message.W(k).Pick(l.In.Kinds()).Sigmoid())
		}
		cc := message.UpdateAll(l.In, in.Add(message.E(l.Edges(edge))), message.Sum)
		sum := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
		look := l.Of(att)
		read := message.UpdateAll(look, message.U(mem).Mul(message.UDotV(mem, sum).Softmax()), message.Sum)
		return message.State{sum.MatMul(w).Add(l.Rows(x)).Add(cc).Add(read).Tanh(), cc}
	})
}

// naive computes the same states by recursion from the node itself.
func (c *cell) naive(g *graph.Graph) (h, s [][]float64) {
	h, s = make([][]float64, g.NumNodes()), make([][]float64, g.NumNodes())
	att, roots := memory(g), g.Roots()
	root := func(p *grad.Param, v int32) []float64 {
		i := slices.Index(roots, v)
		if p.Value.Rows() == 1 {
			i = 0
		}
		return wide(p.Value.Row(i))
	}
	var visit func(v int32)
	visit = func(v int32) {
		if h[v] != nil {
			return
		}
		sum, cc := make([]float64, cellWidth), make([]float64, cellWidth)
		off := g.In().Offsets
		for e := off[v]; e < off[v+1]; e++ {
			u := g.In().Cols[e]
			visit(u)
			for j := range sum {
				gate := 1.0
				if g.Kinds() != nil {
					gate = sigmoid(float64(c.K.Value.Row(int(g.Kinds()[e]))[j]))
				}
				sum[j] += h[u][j]
				cc[j] += s[u][j]*gate + float64(c.Edge.Value.Row(int(e))[j])
			}
		}
		if g.InDegree(int(v)) == 0 {
			sum, cc = root(c.H0, v), root(c.C0, v)
			if g.Kinds() != nil {
				for j := range cc {
					cc[j] *= sigmoid(float64(c.K.Value.Row(0)[j]))
				}
			}
		}
		h[v], s[v] = c.state(att, v, sum, cc), cc
	}
	for v := range int32(g.NumNodes()) {
		visit(v)
	}
	return h, s
}

func (c *cell) state(att *graph.Graph, v int32, sum, cc []float64) []float64 {
	off := att.In().Offsets
	var keys [][]float64
	var logit []float64
	for _, u := range att.In().Cols[off[v]:off[v+1]] {
		m, dot := wide(c.Mem.Value.Row(int(u))), 0.0
		for j, x := range m {
			dot += x * sum[j]
		}
		keys, logit = append(keys, m), append(logit, dot)
	}
	p := softmax(logit)
	out := make([]float64, cellWidth)
	for j := range out {
		z := cc[j] + float64(c.X.Value.Row(int(v))[j])
		for i, a := range sum {
			z += a * float64(c.W.Value.Row(i)[j])
		}
		for i := range keys {
			z += p[i] * keys[i][j]
		}
		out[j] = tanh(z)
	}
	return out
}

// acyclic returns chains, trees and random graphs, some with kinds.
func acyclic() map[string]*graph.Graph {
	rng := rand.New(rand.NewPCG(12, 1))
	var src, dst, kinds []int32
	for range 40 {
		u, v := rng.Int32N(14), rng.Int32N(14)
		if u != v {
			src, dst, kinds = append(src, max(u, v)), append(dst, min(u, v)), append(kinds, rng.Int32N(4))
		}
	}
	dag := graph.Must(graph.New(15, src, dst))
	return map[string]*graph.Graph{
		"ragged chains": graph.Chains(3, 7, 0, 1, 7, 2),
		"one node":      graph.Chains(1),
		"nothing":       graph.Chains(),
		"empty chains":  graph.Chains(0, 0),
		"trees":         graph.Must(graph.Trees([]int32{-1, 0, 0, 1, 1, 1}, []int32{1, 2, -1}, []int32{-1})),
		"dag":           dag,
		"kinds":         graph.Must(graph.WithKinds(dag, kinds)),
		"leaves":        graph.Must(graph.Trees([]int32{-1}, []int32{-1})),
	}
}

func TestSweepIsTheRecursion(t *testing.T) {
	for name, g := range acyclic() {
		for _, roots := range []int{1, len(g.Roots())} {
			c := newCell(g, roots)
			h, s := c.naive(g)
			for _, tape := range []*grad.Tape{grad.NewTape(1), grad.NewEval(), nil} { // nil: constants only
				got := c.run(tape, g)
				compare.Arrays(t, name, []*tensor.Dense{got[0].Value(), got[1].Value()}, []*tensor.Dense{rowsOf(h), rowsOf(s)}, rounded)
			}
		}
	}
}

func TestSweepGradients(t *testing.T) {
	all := acyclic()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		g := all[name]
		for k, roots := range []int{1, len(g.Roots())} {
			if (i+k)%2 != 0 && !gradtest.Sharp && !sparing.Full() {
				continue // of float64 both are checked, in which differences say more
			}
			c := newCell(g, roots)
			t.Run(name, func(t *testing.T) {
				gradtest.Check(t, c, func(tp *grad.Tape) *grad.Var {
					s := c.run(tp, g)
					return weigh(s[0]).Add(weigh(s[1])).Add(weigh(tp.Use(c.K)).Scale(0))
				})
			})
		}
	}
}

// The same edges, none, once without kinds and once with: each has its own plan.
func TestSweepOfLeavesWithKinds(t *testing.T) {
	plain := graph.Must(graph.New(2, nil, nil))
	kinds := graph.Must(graph.WithKinds(plain, []int32{}))
	for g, want := range map[*graph.Graph][]int32{plain: nil, kinds: {0, 0}} {
		message.Sweep(g, message.State{column(1)}, func(l *message.Level, prev message.State) message.State {
			if !slices.Equal(l.In.Kinds(), want) || (l.In.Kinds() == nil) != (want == nil) {
				t.Errorf("the edges from the states before have the kinds %v, want %v", l.In.Kinds(), want)
			}
			return prev
		})
	}
}

// TestSharedInit hands every root the same row, once for all and once each.
func TestSharedInit(t *testing.T) {
	g := graph.Chains(4, 2, 3)
	one := newCell(g, 1)
	each := *one
	each.H0, each.C0 = grad.NewParam(3, cellWidth), grad.NewParam(3, cellWidth)
	for i := range 3 {
		copy(each.H0.Value.Row(i), one.H0.Value.Data)
		copy(each.C0.Value.Row(i), one.C0.Value.Data)
	}
	a, b := one.run(nil, g), each.run(nil, g)
	compare.Arrays(t, "states", values(a), values(b), compare.SameBits)
}

func values(s message.State) []*tensor.Dense {
	out := make([]*tensor.Dense, len(s))
	for i, x := range s {
		out[i] = x.Value()
	}
	return out
}

// recur is one step of a plain recurrent network.
func recur(w, x *grad.Var) func(l *message.Level, prev message.State) message.State {
	return func(l *message.Level, prev message.State) message.State {
		h := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
		return message.State{h.MatMul(w).Add(l.Rows(x)).Tanh()}
	}
}

func TestBatchIsSeparate(t *testing.T) {
	lengths := []int{4, 0, 9, 1, 9, 3}
	w, h0 := grad.Const(param(1, 3, 3).Value), grad.Const(param(2, 1, 3).Value)
	g := graph.Chains(lengths...)
	x := grad.Const(param(3, g.NumNodes(), 3).Value)
	all := message.Sweep(g, message.State{h0}, recur(w, x))[0]
	at := 0
	for _, n := range lengths {
		xs := grad.Const(x.RowRange(at, at+n).Value())
		alone := message.Sweep(graph.Chains(n), message.State{h0}, recur(w, xs))[0]
		compare.Arrays(t, "a chain alone", []*tensor.Dense{alone.Value()}, []*tensor.Dense{all.RowRange(at, at+n).Value()}, compare.SameBits)
		h := h0
		for i := range n { // and its steps, one at a time
			h = h.MatMul(w).Add(x.RowRange(at+i, at+i+1)).Tanh()
			compare.Arrays(t, "a step alone", []*tensor.Dense{h.Value()}, []*tensor.Dense{all.RowRange(at+i, at+i+1).Value()}, compare.SameBits)
		}
		at += n
	}
}

// TestSegments carries the state from one segment to the next.
func TestSegments(t *testing.T) {
	w, h0 := grad.Const(param(1, 3, 3).Value), grad.Const(param(2, 1, 3).Value)
	whole := graph.Chains(6, 6)
	x := grad.Const(param(3, 12, 3).Value)
	want := message.Sweep(whole, message.State{h0}, recur(w, x))
	half := graph.Chains(3, 3)
	first := message.Sweep(half, message.State{h0}, recur(w, x.Rows([]int32{0, 1, 2, 6, 7, 8})))
	second := message.Sweep(half, first.Rows(half.Sinks()).Keep(), recur(w, x.Rows([]int32{3, 4, 5, 9, 10, 11})))
	compare.Arrays(t, "ends", values(second.Rows(half.Sinks())), values(want.Rows(whole.Sinks())), compare.SameBits)
}

// TestChainsReadAPrefix finds that a level of chains reads no more rows than it
// has, and in their order, so that the state need not be gathered.
func TestChainsReadAPrefix(t *testing.T) {
	g := graph.Chains(2, 5, 3, 5)
	x := grad.Const(param(1, g.NumNodes(), 2).Value)
	message.Sweep(g, message.State{x.RowRange(0, 1)}, func(l *message.Level, prev message.State) message.State {
		if l.N > 0 {
			for i, u := range l.In.In().Cols {
				if int(u) != i || prev[0].Dim(0) != len(l.Nodes()) {
					t.Errorf("level %d: destination %d reads row %d of %d", l.N, i, u, prev[0].Dim(0))
				}
			}
		}
		return message.State{l.Rows(x)}
	})
}

func TestSweepMisuse(t *testing.T) {
	init := message.State{column(0)}
	loop := graph.Must(graph.New(2, []int32{0, 1}, []int32{1, 0}))
	func() {
		defer func() {
			var cycle *graph.CycleError
			if err, _ := recover().(error); !errors.As(err, &cycle) || len(cycle.Cycle) != 2 {
				t.Errorf("a cycle: %v", err)
			}
		}()
		message.Sweep(loop, init, nil)
	}()
	g := graph.Chains(2, 2)
	give := func(s ...*grad.Var) func(*message.Level, message.State) message.State {
		return func(*message.Level, message.State) message.State { return s }
	}
	for name, f := range map[string]func(){
		"init rows":   func() { message.Sweep(g, message.State{column(1, 2, 3)}, give(column(1, 2))) },
		"init uneven": func() { message.Sweep(g, message.State{column(1), column(1, 2)}, give(column(1, 2), column(1, 2))) },
		"few rows":    func() { message.Sweep(g, init, give(column(1))) },
		"wide rows":   func() { message.Sweep(g, init, give(grad.Const(tensor.New(2, 2)))) },
		"Edges": func() {
			message.Sweep(g, init, func(l *message.Level, p message.State) message.State { l.Edges(column(1)); return p })
		},
		"Rows": func() {
			message.Sweep(g, init, func(l *message.Level, p message.State) message.State { l.Rows(column(1, 2, 3, 4, 5)); return p })
		},
		"Of": func() {
			message.Sweep(g, init, func(l *message.Level, p message.State) message.State { l.Of(sides()); return p })
		},
	} {
		var shape *tensor.ShapeError
		if err := tensor.Try(f); !errors.As(err, &shape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func(){
		"no state":   func() { message.Sweep(g, nil, give()) },
		"few states": func() { message.Sweep(g, message.State{column(1), column(1)}, give(column(1, 2))) },
	} {
		if tapeError(f) == nil {
			t.Errorf("%s: no *grad.TapeError", name)
		}
	}
}

// TestSweepAllocates finds that a later training step makes no array: what it
// allocates does not grow with the number of nodes, and the arena not at all.
// A Var of a step that is used outside of the sweep is noticed, in its own step of the
// training and in later ones, where it would be another value.
func TestVarOfStepOutside(t *testing.T) {
	g := graph.Chains(3)
	tape := grad.NewTape(1)
	var kept *grad.Var
	for range 2 {
		tape.Reset()
		x := tape.Watch(tensor.New(3, 2))
		h := message.Sweep(g, message.State{grad.Const(tensor.New(1, 2))}, func(l *message.Level, prev message.State) message.State {
			y := prev[0].Add(l.Rows(x)).Tanh()
			if l.N == 1 {
				kept = y
			}
			return message.State{y}
		})
		tape.Backward(h[0].Sum())
		func() {
			defer func() {
				if _, ok := recover().(*grad.TapeError); !ok {
					t.Error("a Var of a step is used outside of it, and nobody says so")
				}
			}()
			kept.Sum()
		}()
	}
}

func TestSweepAllocates(t *testing.T) {
	count := func(chains int) (allocs float64, ops int) {
		lengths := slices.Repeat([]int{10}, chains)
		g := graph.Chains(lengths...)
		w, h0, x := param(1, 8, 8), param(2, 1, 8), grad.Const(param(3, g.NumNodes(), 8).Value)
		tape := grad.NewTape(1)
		step := func() {
			tape.Reset()
			s := message.Sweep(g, message.State{tape.Use(h0)}, recur(tape.Use(w), x))
			ops = tape.Stats().Ops
			tape.Backward(s[0].Sum())
		}
		step()
		held := tape.Stats().Held
		allocs = testing.AllocsPerRun(3, step)
		if now := tape.Stats().Held; now != held {
			t.Errorf("%d chains: the arena grew from %d to %d bytes", chains, held, now)
		}
		return allocs, ops
	}
	few, fewOps := count(5)
	many, manyOps := count(500)
	if many > few*1.2+20 || fewOps != manyOps {
		t.Errorf("50 nodes: %v allocations, %d operations; 5000 nodes: %v and %d", few, fewOps, many, manyOps)
	}
}

// lateSweep is a step whose first level needs no gradient while later ones do.
// It returns the gradient of the sum by w.
func lateSweep(tape *grad.Tape, w *grad.Param) *tensor.Dense {
	tape.Reset()
	wv := tape.Use(w)
	s := message.Sweep(graph.Chains(3, 3), message.State{column(1)}, func(l *message.Level, prev message.State) message.State {
		h := message.UpdateAll(l.In, message.U(prev[0]), message.Sum)
		if l.N > 0 {
			h = h.MatMul(wv)
		}
		return message.State{h}
	})
	return tape.Backward(s[0].Sum()).Of(wv)
}

func TestConstantFirstLevel(t *testing.T) {
	w := param(1, 1, 1)
	x := float64(w.Value.Data[0])
	want := dense([]float64{2 * (1 + 2*x)}, 1, 1) // two chains of 1, w, w²
	compare.Arrays(t, "gradient", []*tensor.Dense{lateSweep(grad.NewTape(1), w)}, []*tensor.Dense{want}, rounded)
}

func TestConstantFirstLevelIsRecycled(t *testing.T) {
	w, tape := param(1, 1, 1), grad.NewTape(1)
	var held []int
	for range 4 {
		lateSweep(tape, w)
		held = append(held, tape.Stats().Held)
	}
	if held[3] != held[1] {
		t.Errorf("the arena grows: %v bytes", held)
	}
}
