package analysis_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// weighted is a graph with weights the same both ways, with parallel edges, a loop and a
// node without edges.
func weighted(t *testing.T, n, edges int) (*graph.Graph, []tensor.Float) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 12))
	var src, dst []int32
	var list []tensor.Float
	for range edges {
		u, v, w := rng.Int32N(int32(n-1)), rng.Int32N(int32(n-1)), tensor.Float(rng.Float64()+0.2)
		if u != v {
			src, dst, list = append(src, u, v), append(dst, v, u), append(list, w, w)
		}
	}
	src, dst, list = append(src, 1), append(dst, 1), append(list, 0.7)
	g := graph.Must(graph.New(n, src, dst))
	weight := make([]tensor.Float, len(list))
	for e, i := range g.EdgeOrder() {
		weight[e] = list[i]
	}
	return g, weight
}

// diffused is S as the paper says it, dense, and D.
func diffused(d analysis.Diffusion, g *graph.Graph, weight []tensor.Float) (s *mat.Dense, degree []float64) {
	n := g.NumNodes()
	a := mat.NewDense(n, n, nil)
	degree = make([]float64, n)
	for v := range n {
		if !d.NoLoops {
			a.Set(v, v, 1)
		}
		for e, u := range g.Sources(v) {
			w := 1.0
			if weight != nil {
				w = float64(weight[e])
			}
			a.Set(v, int(u), a.At(v, int(u))+w)
		}
		for u := range n {
			degree[v] += a.At(v, u)
		}
	}
	for v := range n {
		for u := range n {
			by := math.Sqrt(degree[v] * degree[u])
			if d.Walk {
				by = degree[v]
			}
			if a.At(v, u) != 0 {
				a.Set(v, u, a.At(v, u)/by)
			}
		}
	}
	s = mat.NewDense(n, n, nil)
	if d.Time > 0 {
		for v := range n {
			a.Set(v, v, a.At(v, v)-1)
		}
		a.Scale(d.Time, a)
		s.Exp(a)
		return s, degree
	}
	alpha := cmp.Or(d.Teleport, 0.15)
	a.Scale(alpha-1, a)
	for v := range n {
		a.Set(v, v, a.At(v, v)+1)
	}
	if err := s.Inverse(a); err != nil {
		panic(err)
	}
	s.Scale(alpha, s)
	return s, degree
}

// diffusions are the kinds there are.
var diffusions = []analysis.Diffusion{{}, {Teleport: 0.05, Walk: true}, {NoLoops: true}, {Time: 3}, {Time: 5, Walk: true, NoLoops: true}}

func TestDiffusion(t *testing.T) {
	const n = 23
	g, weight := weighted(t, n, 40)
	oneWay := random.Uniform(rand.New(rand.NewPCG(5, 6)), n, 60)
	for _, d := range diffusions {
		d.Raw, d.Keep = true, n
		in, w := g, weight
		if d.Walk {
			in, w = oneWay, nil
		}
		s, _ := diffused(d, in, w)
		h, got, err := d.Graph(in, w)
		if err != nil {
			t.Fatal(err)
		}
		seen := 0
		for v := range n {
			for e, u := range h.Sources(v) {
				if want := s.At(v, int(u)); math.Abs(float64(got[e])-want) > 1e-6 {
					t.Fatalf("%+v: %d → %d is %v, want %v", d, u, v, got[e], want)
				}
				seen++
			}
		}
		for v := range n {
			for u := range n {
				if s.At(v, u) > 1e-6 {
					seen--
				}
			}
		}
		if seen < 0 {
			t.Errorf("%+v: %d entries are missing", d, -seen)
		}
	}
}

// Of each row the greatest are kept, and add up to 1.
func TestDiffusionCut(t *testing.T) {
	const n = 23
	g, weight := weighted(t, n, 40)
	for _, d := range []analysis.Diffusion{{Keep: 4}, {Threshold: 0.03}, {Keep: 5, Threshold: 0.05, Time: 2}} {
		s, _ := diffused(d, g, weight)
		rows, err := d.Rows(g, weight, []int32{7, 0, n - 1, 7})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range []int{7, 0, n - 1, 7} {
			var best []int32
			for u := range int32(n) {
				if x := s.At(v, int(u)); x > 1e-9 && x >= d.Threshold {
					best = append(best, u)
				}
			}
			slices.SortStableFunc(best, func(a, b int32) int { return cmp.Compare(s.At(v, int(b)), s.At(v, int(a))) })
			if d.Keep > 0 {
				best = best[:min(d.Keep, len(best))]
			}
			slices.Sort(best)
			sum := 0.0
			for _, u := range best {
				sum += s.At(v, int(u))
			}
			cols, values := rows.Row(i)
			if !slices.Equal(cols, best) {
				t.Fatalf("%+v: of node %d %v is kept, want %v", d, v, cols, best)
			}
			for k, u := range cols {
				if want := s.At(v, int(u)) / sum; math.Abs(float64(values[k])-want) > 1e-6 {
					t.Errorf("%+v: %d → %d is %v, want %v", d, u, v, values[k], want)
				}
			}
		}
	}
}

// What is approximated is too small by what it says at most, and looks at few nodes.
func TestDiffusionTolerance(t *testing.T) {
	const n = 60
	g, weight := weighted(t, n, 90)
	for _, d := range diffusions {
		d.Raw, d.Keep = true, n
		s, degree := diffused(d, g, weight)
		before := n * n
		for _, d.Tolerance = range []float64{1e-4, 1e-3, 1e-2} {
			h, got, err := d.Graph(g, weight)
			if err != nil {
				t.Fatal(err)
			}
			if h.NumEdges() > before {
				t.Errorf("%+v: %d entries, and %d where it is more exact", d, h.NumEdges(), before)
			}
			before = h.NumEdges()
			there := mat.NewDense(n, n, nil)
			for v := range n {
				for e, u := range h.Sources(v) {
					there.Set(v, int(u), float64(got[e]))
				}
			}
			for v := range n {
				for u := range n {
					most := d.Tolerance * degree[u]
					if !d.Walk && u != v {
						most *= math.Sqrt(degree[v] / degree[u])
					}
					if short := s.At(v, u) - there.At(v, u); short < -1e-6 || short > most+1e-6 {
						t.Fatalf("%+v: entry %d of row %d is short of %v by %v, more than %v", d, u, v, s.At(v, u), short, most)
					}
				}
			}
		}
		if before > 9*59*59/10 { // 59 nodes hear each other
			t.Errorf("%+v: at the coarsest there are still %d entries", d, before)
		}
	}
}

// Members do not hear each other, and no bit depends on the threads.
func TestDiffusionMembers(t *testing.T) {
	a, _ := weighted(t, 30, 60)
	b, _ := weighted(t, 9, 12)
	g := graph.Batch(a, b)
	for _, d := range []analysis.Diffusion{{Keep: 6}, {Keep: 6, Tolerance: 1e-4}, {Time: 2, Threshold: 1e-3}} {
		h, weight, err := d.Graph(g, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(h.NodeOffsets(), g.NodeOffsets()) || len(h.From().Edges) != h.NumEdges() || slices.Max(h.From().Edges) != -1 {
			t.Errorf("members %v, edges from %v", h.NodeOffsets(), h.From().Edges)
		}
		var apart []tensor.Float
		for _, one := range []*graph.Graph{a, b} {
			_, w, err := d.Graph(one, nil)
			if err != nil {
				t.Fatal(err)
			}
			apart = append(apart, w...)
		}
		if !slices.Equal(weight, apart) {
			t.Errorf("%+v: a batch has other weights than its members", d)
		}
		for _, threads := range []int{1, 3} {
			undo := par.SetThreads(threads)
			_, again, err := d.Graph(g, nil)
			undo()
			if err != nil || !slices.Equal(again, weight) {
				t.Errorf("%+v: other bits on %d threads, %v", d, threads, err)
			}
		}
	}
}

// From 4,097 nodes on what is far away is left out.
func TestDiffusionSizes(t *testing.T) {
	for _, n := range []int{4096, 4097} {
		rows, err := analysis.Diffusion{Walk: true, Keep: n}.Rows(ring(n), nil, []int32{5})
		if err != nil {
			t.Fatal(err)
		}
		cols, _ := rows.Row(0)
		if near := len(cols) < 200; near != (n > 4096) {
			t.Errorf("%d nodes: %d entries", n, len(cols))
		}
	}
}

func TestDiffusionErrors(t *testing.T) {
	g := ring(4)
	nan := tensor.Float(math.NaN())
	for _, tt := range []struct {
		d      analysis.Diffusion
		g      *graph.Graph
		weight []tensor.Float
		want   string
	}{
		{analysis.Diffusion{Teleport: 1.5}, g, nil, "panic: Teleport is 1.5"},
		{analysis.Diffusion{Time: -1}, g, nil, "panic: Time is -1"},
		{analysis.Diffusion{Keep: -2}, g, nil, "panic: Keep is -2"},
		{analysis.Diffusion{Tolerance: math.NaN()}, g, nil, "panic: Tolerance NaN"},
		{analysis.Diffusion{}, graph.Ring(4, 1), nil, "error: do not go both ways"},
		{analysis.Diffusion{}, g, []tensor.Float{1}, "panic: 1 weights for 8 edges"},
		{analysis.Diffusion{}, g, []tensor.Float{1, 1, -1, 1, 1, 1, 1, 1}, "error: edge 2 has the weight -1"},
		{analysis.Diffusion{}, g, []tensor.Float{1, 1, 1, 1, 1, nan, 1, 1}, "error: edge 5 has the weight NaN"},
	} {
		said := graphtest.Mistake(func() error { _, _, err := tt.d.Graph(tt.g, tt.weight); return err })
		if how, what, _ := strings.Cut(tt.want, ": "); !strings.HasPrefix(said, how+": analysis") || !strings.Contains(said, what) {
			t.Errorf("%+v: %q, want %q", tt.d, said, tt.want)
		}
	}
	if _, err := (analysis.Diffusion{}).Rows(g, nil, []int32{0, 4}); err == nil || !strings.Contains(err.Error(), "entry 1 is node 4") {
		t.Errorf("error %v", err)
	}
}
