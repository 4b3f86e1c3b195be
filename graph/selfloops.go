package graph

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// WithSelfLoops returns g with a loop added to each node that has none, so
// doing it twice adds nothing. Its list is g's list and then the new loops by
// node, so a new loop is the last of its node's in-edges, and its From().Edges
// is −1. If g has kinds, new loops get one of their own: g's largest plus one.
//
// It panics with a [*tensor.ShapeError] if g is bipartite.
func WithSelfLoops(g *Graph) *Graph {
	g.wantHomogeneous("graph.WithSelfLoops")
	in, n := g.In(), g.NumDst()
	offsets := make([]int64, n+1)
	par.For(n, loopGrain, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			offsets[v+1] = in.Offsets[v+1] - in.Offsets[v]
			if !g.hasLoop(v) {
				offsets[v+1]++
			}
		}
	})
	for v := range n {
		offsets[v+1] += offsets[v]
	}
	g.wantFewEdges("graph.WithSelfLoops", int(offsets[n]))
	l := looped{offsets: offsets, before: in.Offsets, list: g.lister()}
	h := g.derive(ofCSR(n, offsets, l.spread(in.Cols, func(v int) int32 { return int32(v) }), false))
	if g.kinds != nil {
		kind := int32(0)
		for _, k := range g.kinds {
			kind = max(kind, k+1)
		}
		h.kinds = l.spread(g.kinds, func(int) int32 { return kind })
	}
	h.listOrder, h.fromEdges = sync.OnceValue(l.order), sync.OnceValue(l.from)
	return h
}

// loopGrain is how many nodes a thread takes at a time.
const loopGrain = 1 << 14

// looped is a graph whose nodes that had no loop have one now, as the last of
// their in-edges.
//
// It keeps what it takes to say where the edges come from, not the graph itself:
// most programs drop that, and its columns with it.
type looped struct {
	offsets []int64        // where the in-edges of each node start now
	before  []int64        // where they did
	list    func() []int32 // EdgeOrder of the graph before
}

// spread copies a number of each edge to where the edge is now, and sets that of
// each new loop to what its node gives.
func (l looped) spread(x []int32, of func(v int) int32) []int32 {
	n := len(l.offsets) - 1
	y := make([]int32, l.offsets[n])
	par.For(n, loopGrain, func(lo, hi int) {
		for v := lo; v < hi; v++ {
			row := y[l.offsets[v]:l.offsets[v+1]]
			if copied := copy(row, x[l.before[v]:l.before[v+1]]); copied < len(row) {
				row[copied] = of(v)
			}
		}
	})
	return y
}

// order is the new graph's EdgeOrder.
func (l looped) order() []int32 {
	edges := l.before[len(l.before)-1]
	return l.spread(l.list(), func(v int) int32 {
		return int32(edges + l.offsets[v] - l.before[v]) // so many loops are new before v
	})
}

// from is the new graph's From().Edges.
func (l looped) from() []int32 {
	return l.spread(iota32(int(l.before[len(l.before)-1])), func(int) int32 { return -1 })
}

// WithoutSelfLoops returns g without its loops. Its list is what is left of g's
// list. It panics with a [*tensor.ShapeError] if g is bipartite.
func WithoutSelfLoops(g *Graph) *Graph {
	g.wantHomogeneous("graph.WithoutSelfLoops")
	l := g.list()
	var kept []int32
	for i, u := range l.src {
		if u != l.dst[i] {
			kept = append(kept, int32(i))
		}
	}
	return g.derive(l.pick(kept).sorted(g.NumDst(), g.NumDst()))
}

// hasLoop reports whether v of a homogeneous graph has an edge to itself.
func (g *Graph) hasLoop(v int) bool {
	for _, u := range g.sources(v) {
		if int(u) == v {
			return true
		}
	}
	return false
}
