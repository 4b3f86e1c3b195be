package graph

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Complete returns the graph of n nodes with an edge between every two, both
// ways, and a loop on each. Like all regular graphs its sources ascend within a
// destination, its list is its own order, and it panics with a
// [*tensor.ShapeError] if n is negative or there are more than 2³¹−1 edges.
func Complete(n int) *Graph {
	p := pattern{"graph.Complete", n, n, int64(n) * int64(n)}
	return p.build(func(cols []int32, _ int) []int32 { return interval(cols, 0, n) })
}

// CompleteNoLoops returns [Complete] of n without the loops.
func CompleteNoLoops(n int) *Graph {
	p := pattern{"graph.CompleteNoLoops", n, n, int64(n) * int64(n-1)}
	return p.build(func(cols []int32, v int) []int32 {
		return interval(interval(cols, 0, v), v+1, n)
	})
}

// CompleteBipartite returns the bipartite graph with an edge from each of nSrc
// sources to each of nDst destinations.
func CompleteBipartite(nSrc, nDst int) *Graph {
	p := pattern{"graph.CompleteBipartite", nSrc, nDst, int64(nSrc) * int64(nDst)}
	g := p.build(func(cols []int32, _ int) []int32 { return interval(cols, 0, nSrc) })
	g.bipartite = true
	return g
}

// Causal returns the graph of n nodes in which v hears itself and every node
// before it: an edge u → v for each u ≤ v.
func Causal(n int) *Graph {
	p := pattern{"graph.Causal", n, n, int64(n) * int64(n+1) / 2}
	return p.build(func(cols []int32, v int) []int32 { return interval(cols, 0, v+1) })
}

// Band returns the graph of n nodes in which v hears those at most w away, and
// itself: an edge u → v wherever |u−v| ≤ w. A negative w is a
// [*tensor.ShapeError] like a negative n.
func Band(n, w int) *Graph {
	if w < 0 {
		panic(&tensor.ShapeError{Op: "graph.Band", Shapes: [][]int{{n, w}}, Why: "the width is negative"})
	}
	w = max(0, min(w, n-1))
	p := pattern{"graph.Band", n, n, int64(n)*(2*int64(w)+1) - int64(w)*int64(w+1)}
	return p.build(func(cols []int32, v int) []int32 {
		return interval(cols, max(0, v-w), min(n, v+w+1))
	})
}

// Ring returns the graph of n nodes on a circle with, for each of the shifts, an
// edge to v from v−shift, modulo n. The kind of an edge is the index of its
// shift, and a node's in-edges are in the order of the shifts. Shifts that are
// equal modulo n give parallel edges.
func Ring(n int, shifts ...int) *Graph {
	p := pattern{"graph.Ring", n, n, int64(n) * int64(len(shifts))}
	g := p.build(func(cols []int32, v int) []int32 {
		for _, s := range shifts {
			cols = append(cols, int32((v-s%n+n)%n))
		}
		return cols
	})
	g.kinds = make([]int32, g.NumEdges())
	for e := range g.kinds {
		g.kinds[e] = int32(e % len(shifts))
	}
	return g
}

// pattern is a graph of which a formula gives each row.
type pattern struct {
	op         string
	nSrc, nDst int
	edges      int64
}

// build returns the homogeneous graph of p: row appends the sources of v to cols.
func (p pattern) build(row func(cols []int32, v int) []int32) *Graph {
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: p.op, Shapes: [][]int{{p.nSrc, p.nDst}}, Why: why})
	}
	switch {
	case p.nSrc < 0 || p.nDst < 0:
		bad("the number of nodes is negative")
	case p.nSrc > math.MaxInt32 || p.nDst > math.MaxInt32:
		bad("more than 2³¹−1 nodes")
	case p.edges > math.MaxInt32:
		bad("more than 2³¹−1 edges")
	}
	offsets, cols := make([]int64, p.nDst+1), make([]int32, 0, p.edges)
	for v := range p.nDst {
		cols = row(cols, v)
		offsets[v+1] = int64(len(cols))
	}
	return ofCSR(p.nSrc, offsets, cols, false)
}

// interval appends lo, lo+1, … hi−1 to cols.
func interval(cols []int32, lo, hi int) []int32 {
	for u := lo; u < hi; u++ {
		cols = append(cols, int32(u))
	}
	return cols
}
