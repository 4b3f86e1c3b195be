package graph

import (
	"math"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Complete returns the graph of n nodes with an edge between every two, both
// ways, and a loop on each. Like the other regular graphs that are made of
// blocks ([Graph.Spans]) it holds no edges until they are asked for, its sources
// ascend within a destination, and its list is its own order. It panics with a
// [*tensor.ShapeError] if n is negative or there are more than 2³¹−1 edges.
func Complete(n int) *Graph {
	return pattern{"graph.Complete", n, n}.block(FullMask, 0)
}

// CompleteNoLoops returns [Complete] of n without the loops.
func CompleteNoLoops(n int) *Graph {
	return pattern{"graph.CompleteNoLoops", n, n}.block(NoLoopsMask, 0)
}

// CompleteBipartite returns the bipartite graph with an edge from each of nSrc
// sources to each of nDst destinations.
func CompleteBipartite(nSrc, nDst int) *Graph {
	g := pattern{"graph.CompleteBipartite", nSrc, nDst}.block(FullMask, 0)
	g.top().bipartite = true
	return g
}

// Causal returns the graph of n nodes in which v hears itself and every node
// before it: an edge u → v for each u ≤ v.
func Causal(n int) *Graph {
	return pattern{"graph.Causal", n, n}.block(CausalMask, 0)
}

// Band returns the graph of n nodes in which v hears those at most w away, and
// itself: an edge u → v wherever |u−v| ≤ w. A negative w is a
// [*tensor.ShapeError] like a negative n.
func Band(n, w int) *Graph {
	return pattern{"graph.Band", n, n}.band(BandMask, w)
}

// CausalBand returns the graph of n nodes in which v hears itself and the w nodes
// before it: an edge u → v wherever 0 ≤ v−u ≤ w. A negative w is a
// [*tensor.ShapeError] like a negative n.
func CausalBand(n, w int) *Graph {
	return pattern{"graph.CausalBand", n, n}.band(CausalBandMask, w)
}

// Ring returns the graph of n nodes on a circle with, for each of the shifts, an
// edge to v from v−shift, modulo n; without shifts there is one, 1. The kind of an edge is the index of its
// shift, and a node's in-edges are in the order of the shifts. Shifts that are
// equal modulo n give parallel edges.
func Ring(n int, shifts ...int) *Graph {
	if len(shifts) == 0 {
		shifts = []int{1}
	}
	p := pattern{"graph.Ring", n, n}
	p.checkNodes()
	p.checkEdges(n * len(shifts))
	offsets, cols := make([]int64, n+1), make([]int32, 0, n*len(shifts))
	for v := range n {
		for _, s := range shifts {
			cols = append(cols, int32((v-s%n+n)%n))
		}
		offsets[v+1] = int64(len(cols))
	}
	g := ofCSR(n, offsets, cols, false)
	g.kinds = make([]int32, len(cols))
	for e := range g.kinds {
		g.kinds[e] = int32(e % len(shifts))
	}
	return g
}

// Star returns the graph of n nodes in which node 0 has an edge to each other
// node and one from it. Its list is its own order. It panics with a
// [*tensor.ShapeError] if n is negative or more than 2³⁰.
func Star(n int) *Graph {
	p := pattern{"graph.Star", n, n}
	p.checkNodes()
	p.checkEdges(2 * max(n-1, 0))
	offsets, cols := make([]int64, n+1), make([]int32, 0, 2*n)
	for v := range n {
		if v == 0 {
			cols = interval(cols, 1, n)
		} else {
			cols = append(cols, 0)
		}
		offsets[v+1] = int64(len(cols))
	}
	return ofCSR(n, offsets, cols, false)
}

// Grid returns the graph of rows×cols nodes in which each has an edge to the
// one above, left, right and below, where there is one. Node r·cols+c stands in
// row r and column c. Its list is its own order, in which sources ascend. It
// panics with a [*tensor.ShapeError] if a side is negative or there are more
// than 2³¹−1 edges.
func Grid(rows, cols int) *Graph {
	p := pattern{"graph.Grid", rows, cols}
	p.checkNodes()
	if rows > 0 && cols > math.MaxInt32/rows {
		p.refuse("more than 2³¹−1 nodes")
	}
	n := rows * cols
	edges := 4*n - 2*rows - 2*cols
	p.checkEdges(edges)
	offsets, src := make([]int64, 1, n+1), make([]int32, 0, max(edges, 0))
	for r := range rows {
		for c := range cols {
			v := int32(r*cols + c)
			for _, w := range [4]struct {
				there bool
				step  int
			}{{r > 0, -cols}, {c > 0, -1}, {c < cols-1, 1}, {r < rows-1, cols}} {
				if w.there {
					src = append(src, v+int32(w.step))
				}
			}
			offsets = append(offsets, int64(len(src)))
		}
	}
	return ofCSR(n, offsets, src, false)
}

// pattern is a regular graph that op is to make.
type pattern struct {
	op         string
	nSrc, nDst int
}

// block returns the homogeneous graph that is one block of the given mask.
func (p pattern) block(mask SpanMask, width int) *Graph {
	p.checkNodes()
	s := Span{NumSrc: p.nSrc, NumDst: p.nDst, Mask: mask, Width: width}
	p.checkEdges(s.NumEdges())
	return ofSpans(p.nSrc, p.nDst, []Span{s}, false)
}

// band is block of a mask with a width.
func (p pattern) band(mask SpanMask, w int) *Graph {
	if w < 0 {
		mistake.Panic(p.op, []int{p.nDst, w}, "the width is negative")
	}
	return p.block(mask, max(0, min(w, p.nDst-1)))
}

// checkNodes panics unless p has a good number of nodes.
func (p pattern) checkNodes() {
	switch {
	case p.nSrc < 0 || p.nDst < 0:
		p.refuse("the number of nodes is negative")
	case p.nSrc > math.MaxInt32 || p.nDst > math.MaxInt32:
		p.refuse("more than 2³¹−1 nodes")
	}
}

// checkEdges panics if p has too many edges.
func (p pattern) checkEdges(n int) {
	if n > math.MaxInt32 {
		p.refuse("more than 2³¹−1 edges")
	}
}

// refuse panics with the reason why p cannot be made.
func (p pattern) refuse(why string) {
	mistake.Panic(p.op, []int{p.nSrc, p.nDst}, "%s", why)
}
