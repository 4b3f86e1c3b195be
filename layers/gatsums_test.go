package layers_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// drawn is a block of that many sources and 12 destinations, of which some have no in-edges,
// others up to 40, so many times.
func drawn(t *testing.T, sources, times int) *graph.Graph {
	t.Helper()
	rng := rand.New(rand.NewPCG(17, 4))
	var from, to []int32
	for v := range int32(12) {
		for range times * []int{0, 3, 40, 5}[v%4] {
			from, to = append(from, rng.Int32N(int32(sources))), append(to, v)
		}
	}
	all := make([]int32, sources)
	for u := range all {
		all[u] = int32(u)
	}
	g := graph.Must(graph.New(sources, from, to))
	edges := make([]int32, g.NumEdges())
	for e := range edges {
		edges[e] = int32(e)
	}
	return graph.Must(graph.BlockFrom(g, all[:12], all, g.In().Offsets[:13], edges, g.In().Cols))
}

// sumsFirst reports whether GATConv on a tape has summed before it multiplied.
func sumsFirst(t *grad.Tape) bool { return slices.Contains(t.Operations(), "GATConv.Sums") }

// GATConv that sums first equals its formula and has the gradients of the other way, which it
// takes where its features need a gradient.
func TestGATSumsFirst(t *testing.T) {
	for _, v := range append(variants(),
		variant{name: "eight of eight", layer: &layers.GATConv{In: 16, Out: 8, Heads: 8}, in: 16},
		variant{name: "five of three", layer: &layers.GATConv{In: 13, Out: 3, Heads: 5, EdgeIn: 2}, in: 13, edge: 2},
	) {
		l, ok := v.layer.(*layers.GATConv)
		if !ok {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			g := drawn(t, 2000, 1)
			m := v.model(g)
			run := func(needs bool) (*tensor.Dense, map[string][]tensor.Float) {
				tape := grad.NewTape(5)
				in := m.in(tape)
				if !needs {
					in.Src = grad.Const(m.Src.Value)
				}
				out := l.Apply(tape, g, in)
				if sumsFirst(tape) == needs {
					t.Fatalf("sums come first: %v, where the features need a gradient: %v", needs, needs)
				}
				all := tape.Backward(weigh(out.Y))
				grads := map[string][]tensor.Float{"attention": message.ApplyEdges(g, out.Attention).Value().Data}
				for name, p := range grad.Params(m) {
					if p != m.Src {
						grads[name] = slices.Clone(all.Of(tape.Use(p)).Data)
					}
				}
				return out.Y.Value(), grads
			}
			y, grads := run(false)
			want, others := run(true)
			compare.Near(t, "result", y.Data, want.Data, compare.Off(1e-4, 1e-4))
			for name, x := range others {
				compare.Near(t, "gradient of "+name, grads[name], x, compare.Off(1e-4, 1e-4))
			}
			if !v.drops {
				compare.Near(t, "result", y.Data, slices.Concat(gatOracle(l, g, m)...), compare.Off(1e-4, 1e-4))
			}
			if gradtest.Sharp {
				x := grad.Const(m.Src.Value)
				gradtest.Check(t, &model{L: l, Dst: m.Dst, Edge: m.Edge, Wght: m.Wght}, func(tp *grad.Tape) *grad.Var {
					in := m.in(tp)
					in.Src = x
					return weigh(l.Apply(tp, g, in).Y)
				})
			}
		})
	}
}

func float64s(x []tensor.Float) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// Sums come first in a training on a block of many sources, and the bits do not depend on
// the threads.
func TestGATSumsFirstWhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	many, few := drawn(t, 20_000, 60), drawn(t, 160, 1)
	sources := func(n int) *tensor.Dense {
		x := tensor.New(n, 16)
		x.Normal(rng, 0, 1)
		return x
	}
	x := sources(20_000)
	run := func(l layers.GATConv, g *graph.Graph, x *grad.Var, tape *grad.Tape) []tensor.Float {
		l.In, l.Out = 16, 4
		l.Init(rand.New(rand.NewPCG(1, 1)))
		y := l.Forward(tape, g, x)
		if !y.Needs() { // an evaluation
			return slices.Clone(y.Value().Data)
		}
		return slices.Clone(tape.Backward(weigh(y)).Of(tape.Use(l.W)).Data)
	}
	for name, tt := range map[string]struct {
		l    layers.GATConv
		g    *graph.Graph
		x    *grad.Var
		tape *grad.Tape
		want bool
	}{
		"many sources":        {g: many, x: grad.Const(x), tape: grad.NewTape(1), want: true},
		"few sources":         {g: few, x: grad.Const(sources(160)), tape: grad.NewTape(1)},
		"no edges":            {g: drawn(t, 160, 0), x: grad.Const(sources(160)), tape: grad.NewTape(1), want: true},
		"dropout of values":   {l: layers.GATConv{ValueDrop: 0.1}, g: many, x: grad.Const(x), tape: grad.NewTape(1)},
		"sparse features":     {g: many, x: grad.Const(sparse.FromDense(x)), tape: grad.NewTape(1)},
		"dropout of features": {l: layers.GATConv{FeatDrop: 0.1}, g: many, x: grad.Const(x), tape: grad.NewTape(1), want: true},
	} {
		if run(tt.l, tt.g, tt.x, tt.tape); sumsFirst(tt.tape) != tt.want {
			t.Errorf("%s: sums come first: %v", name, !tt.want)
		}
	}
	l := layers.GATConv{Heads: 4}
	undo := par.SetThreads(1)
	one := run(l, many, grad.Const(x), grad.NewTape(1))
	undo()
	if !slices.Equal(one, run(l, many, grad.Const(x), grad.NewTape(1))) {
		t.Error("other bits on one thread")
	}
	if !slices.Equal(run(l, many, grad.Const(x), nil), run(layers.GATConv{Heads: 4, ValueDrop: 0.5}, many, grad.Const(x), nil)) {
		t.Error("sums come first in an evaluation")
	}
	tape := grad.NewTape(1)
	compare.Near(t, "gradient of W", one, float64s(run(l, many, tape.Watch(x), tape)), compare.Off(1e-4, 1e-4))
}
