package bits

import (
	"math/rand/v2"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/random"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// place is a graph by name.
type place struct {
	name string
	g    *graph.Graph
}

// places are a graph, a block of it and a bipartite graph.
func places() []place { return []place{{"hub", hub()}, {"block", block()}, {"sides", sides()}} }

// hub has a node of 1,300 in-edges, some of them parallel, another of 1,100
// out-edges, and ten nodes without an edge.
var hub = sync.OnceValue(func() *graph.Graph {
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 1250
	var src, dst []int32
	join := func(u, v int) { src, dst = append(src, int32(u)), append(dst, int32(v)) }
	for u := range 1200 {
		join(u, 7)
	}
	for u := range 100 {
		join(2*u, 7)
	}
	for v := range 1100 {
		join(9, v+100)
	}
	for range 900 {
		join(rng.IntN(n-10), rng.IntN(n-10))
	}
	for range 30 {
		join(20, 21)
	}
	return graph.Must(graph.New(n, src, dst))
})

// block has destinations that are sources too, the hub among them.
var block = sync.OnceValue(func() *graph.Graph {
	seeds := []int32{7, 1249}
	for v := int32(100); v < 400; v += 3 {
		seeds = append(seeds, v)
	}
	return graph.Must(graph.Block(hub(), seeds))
})

// sides is a bipartite graph.
var sides = sync.OnceValue(func() *graph.Graph {
	rng := rand.New(rand.NewPCG(2, 1))
	var src, dst []int32
	for range 500 {
		src, dst = append(src, rng.Int32N(90)), append(dst, rng.Int32N(60))
	}
	return graph.Must(graph.NewBipartite(90, 65, src, dst))
})

// large has more edges than 2¹⁷.
var large = sync.OnceValue(func() *graph.Graph {
	rng := rand.New(rand.NewPCG(3, 1))
	return random.PowerLaw(rng, 9000, 135_000, 0.7)
})

// tiny draws a graph of up to 12 nodes: a list of edges, a block, a view or a
// bipartite graph.
func (m *maker) tiny() *graph.Graph {
	n := 1 + m.IntN(12)
	e := m.IntN(40)
	src, dst := m.rows(e, n), m.rows(e, n)
	g := graph.Must(graph.New(n, src, dst))
	var some []int32
	for _, v := range m.Perm(n)[:m.IntN(n+1)] {
		some = append(some, int32(v))
	}
	switch m.IntN(4) {
	case 0:
		return graph.Must(graph.Block(g, some))
	case 1:
		return graph.Must(graph.Dst(g, some))
	case 2:
		return graph.Must(graph.NewBipartite(n, n, src, dst))
	}
	return g
}

// sparse is a sparse matrix of features with some empty rows.
func (m *maker) sparse(rows, cols int) *grad.Var {
	d := tensor.New(rows, cols)
	for i := range rows {
		for range m.IntN(min(cols, 6)) {
			d.Row(i)[m.IntN(cols)] = tensor.Float(m.NormFloat64())
		}
	}
	return grad.Const(sparse.FromDense(d))
}
