package layers_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// identity is the matrix of n rows.
func identity(n int) *tensor.Dense {
	x := tensor.New(n, n)
	for i := range n {
		x.Row(i)[i] = 1
	}
	return x
}

// convolved is what GCN's matrix, D^−½·(A+I)·D^−½, makes of rows.
func convolved(g *graph.Graph, x *tensor.Dense) *tensor.Dense {
	l := &layers.GCNConv{In: x.Dim(1), Out: x.Dim(1), NoBias: true}
	l.Init(rand.New(rand.NewPCG(1, 1)))
	copy(l.W.Value.Data, identity(x.Dim(1)).Data)
	return l.Forward(nil, g, grad.Const(x)).Value()
}

// GCN's matrix of a path of three is that by hand, with a loop at each node however often it is
// asked for. On a complete graph it is the mean, and a node alone is itself.
func TestGCNByHand(t *testing.T) {
	path := graph.WithSelfLoops(graph.Must(graph.New(3, []int32{0, 1, 1, 2}, []int32{1, 0, 2, 1})))
	a, b, c := 1/2., 1/math.Sqrt(6), 1/3.
	same := func(what string, got *tensor.Dense, want ...float64) {
		t.Helper()
		compare.Near(t, what, got.Data, want, compare.Off(1e-6, 0))
	}
	same("a path", convolved(path, identity(3)), a, b, 0, b, c, b, 0, b, a)
	same("a path, with loops again", convolved(graph.WithSelfLoops(path), identity(3)), a, b, 0, b, c, b, 0, b, a)
	same("all", convolved(graph.Complete(4), identity(4)), .25, .25, .25, .25, .25, .25, .25, .25, .25, .25, .25, .25, .25, .25, .25, .25)
	same("alone", convolved(graph.WithSelfLoops(graph.Must(graph.New(1, nil, nil))), identity(1)), 1)
}

// The matrix of a graph is symmetric, and its largest eigenvalue is 1, of the roots of the degrees.
func TestGCNSpectrum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 20
	var src, dst []int32
	degree := make([]float64, n)
	for u := range int32(n) {
		degree[u]++
		for v := range u {
			if rng.Float64() < 0.2 {
				src, dst = append(src, u, v), append(dst, v, u)
				degree[u]++
				degree[v]++
			}
		}
	}
	g := graph.WithSelfLoops(graph.Must(graph.New(n, src, dst)))
	m := convolved(g, identity(n))
	for u := range n {
		for v := range u {
			if math.Abs(float64(m.Row(u)[v]-m.Row(v)[u])) > 1e-7 {
				t.Fatalf("of %d and %d: %v and %v", u, v, m.Row(u)[v], m.Row(v)[u])
			}
		}
	}
	root, x := tensor.New(n, 1), tensor.New(n, 1)
	for v, d := range degree {
		root.Data[v], x.Data[v] = tensor.Float(math.Sqrt(d)), tensor.Float(rng.NormFloat64())
	}
	compare.Near(t, "the root of the degrees", convolved(g, root).Data, root.Data, compare.Off(1e-5, 0))
	for range 50 {
		y := convolved(g, x)
		if length(y) > length(x)*(1+1e-6) {
			t.Fatalf("a vector of length %v becomes one of %v", length(x), length(y))
		}
		x = y
	}
}

func length(x *tensor.Dense) float64 {
	sum := 0.0
	for _, v := range x.Data {
		sum += float64(v) * float64(v)
	}
	return math.Sqrt(sum)
}

// GAT on edges is a table of all pairs, −∞ where there is no edge, and a softmax along its rows.
func TestGATIsAMaskedTable(t *testing.T) {
	const n, heads, out = 6, 2, 3
	g := graph.WithSelfLoops(graph.Must(graph.New(n, []int32{1, 2, 0, 4, 5, 5, 0}, []int32{0, 0, 1, 1, 4, 0, 5})))
	l := &layers.GATConv{In: 4, Out: out, Heads: heads}
	rng := rand.New(rand.NewPCG(3, 4))
	l.Init(rng)
	x := tensor.New(n, 4)
	x.Normal(rng, 0, 1)
	got := l.Forward(nil, g, grad.Const(x)).Value()
	edge := map[[2]int]bool{}
	for v := range n {
		for _, u := range g.Sources(v) {
			edge[[2]int{int(u), v}] = true
		}
	}
	ft := tensor.New(n, heads*out)
	tensor.MatMul(ft, x, l.W.Value, 0)
	for h := range heads {
		side := func(v int, a *grad.Param) (sum float64) {
			for j := range out {
				sum += float64(ft.Row(v)[h*out+j]) * float64(a.Value.Data[h*out+j])
			}
			return sum
		}
		for v := range n {
			table, sum := make([]float64, n), 0.0
			for u := range n {
				if table[u] = math.Inf(-1); edge[[2]int{u, v}] {
					s := side(u, l.AttnL) + side(v, l.AttnR)
					table[u] = max(s, 0.2*s)
				}
				table[u] = math.Exp(table[u])
				sum += table[u]
			}
			for j := range out {
				want := 0.0
				for u := range n {
					want += table[u] / sum * float64(ft.Row(u)[h*out+j])
				}
				if d := math.Abs(float64(got.Data[(v*heads+h)*out+j]) - want); d > 1e-5 {
					t.Errorf("node %d, head %d: %v, as a table %v", v, h, got.Data[(v*heads+h)*out+j], want)
				}
			}
		}
	}
}
