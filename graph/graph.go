package graph

import (
	"fmt"
	"math"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Graph is an immutable directed graph, homogeneous or bipartite. It is made by
// [New] and its kin, and by the methods of another Graph; the zero value has no
// nodes and no edges.
type Graph struct {
	shared    *topology      // nil in the zero value
	csr       *sparse.CSR    // the edges by destination; nil: shared.in has them
	order     []int32        // edge e is edge order[e] of the list; nil: listOrder says
	listOrder func() []int32 // instead of order, where it is computed on first need; if that is nil too, the list is in g's own order
	kinds     []int32        // by edge; nil: none
	from      Origin
	fromEdges func() []int32 // instead of from.Edges, where they are computed on first need; nil otherwise
	members   *members       // nil: one
}

// topology is what graphs that differ only in labels share: the edges, and
// what is computed of them on first need.
type topology struct {
	nSrc, nDst, edges int

	bipartite bool
	dstRows   []int32 // of a bipartite graph whose destinations are sources
	places    *places // where its nodes stand; nil: Places tells
	spans     []Span  // nil: it is not made of blocks

	inOnce sync.Once
	in     *sparse.CSR // of a graph of blocks, once it is asked for

	outOnce sync.Once
	out     atomic.Pointer[bySource]

	dstOnce sync.Once
	dst     []int32

	identityOnce sync.Once
	identity     []int32

	ownOnce sync.Once
	own     []int32 // the edges in order

	levelsOnce sync.Once
	levels     *Levels
	cycle      error

	derived sync.Map
}

// nothing is the topology of the zero value.
var nothing topology

// top returns what g shares with graphs of the same edges.
func (g *Graph) top() *topology {
	if g.shared == nil {
		return &nothing
	}
	return g.shared
}

// slot is under what a graph keeps a derived value: keys of two types, or values of two types, never meet.
type slot[K comparable, T any] struct{ key K }

// Derive returns what build makes of g's edges, and keeps it with g: the next call with the same key returns the same
// value. So packages hang on a graph what they work out of it. A key is of a type that its package declares, which is how
// no other package means the same by it:
//
//	type rootsKey struct{}
//
//	roots := graph.Derive(g, rootsKey{}, func() []int32 { return g.Roots() })
//
// Graphs that differ only in kinds or members share it. Of several goroutines that ask first, each may build, and all get
// what one of them built. It panics with a [*tensor.ShapeError] if the key is of no declared type, such as string or int.
func Derive[K comparable, T any](g *Graph, key K, build func() T) T {
	mistake.Nil("graph.Derive", g)
	kept, at := &g.top().derived, slot[K, T]{key}
	if v, ok := kept.Load(at); ok {
		return v.(T)
	}
	if of := reflect.TypeFor[K](); of.PkgPath() == "" {
		mistake.Panic("graph.Derive", nil, "the key is of type %v, want a type that the caller declares", of)
	}
	v, _ := kept.LoadOrStore(at, build())
	return v.(T)
}

// NumSrc returns the number of source nodes.
func (g *Graph) NumSrc() int { return g.top().nSrc }

// NumDst returns the number of destination nodes.
func (g *Graph) NumDst() int { return g.top().nDst }

// NumEdges returns the number of edges.
func (g *Graph) NumEdges() int { return g.top().edges }

// NumNodes returns the number of nodes of a homogeneous graph. A bipartite one
// has two numbers, so it panics with a [*tensor.ShapeError].
func (g *Graph) NumNodes() int {
	g.wantHomogeneous("graph.NumNodes")
	return g.NumDst()
}

// Bipartite reports whether sources and destinations are different nodes, even
// if there are as many of both.
func (g *Graph) Bipartite() bool { return g.top().bipartite }

// In returns the edges by destination, a NumDst×NumSrc matrix of ones (Values
// is nil): row v lists the sources of v's in-edges, and edge e is nonzero e. Of
// a graph of blocks ([Graph.Spans]) it is computed once, on first use.
func (g *Graph) In() *sparse.CSR {
	if g.csr != nil {
		return g.csr
	}
	return g.listed()
}

// listed is In of a graph of blocks.
func (g *Graph) listed() *sparse.CSR {
	g.top().inOnce.Do(func() { g.top().in = g.expand() })
	return g.top().in
}

// Out returns the edges by source, a NumSrc×NumDst matrix of ones: row u lists
// the destinations of u's out-edges, and nonzero k is edge edge[k]. The edges of
// a row ascend. It is computed once, on first use.
func (g *Graph) Out() (out *sparse.CSR, edge []int32) {
	by := g.bySource()
	return by.CSR, by.edges
}

// bySource is the edges of a graph by source.
type bySource struct {
	*sparse.CSR
	edges []int32 // of each nonzero
}

// bySource returns the edges by source.
func (g *Graph) bySource() *bySource {
	g.top().outOnce.Do(func() {
		out, edges := g.In().Transpose()
		g.top().out.Store(&bySource{out, edges})
	})
	return g.top().out.Load()
}

// EdgeOrder returns the list's number of each edge: edge e of g is edge
// EdgeOrder()[e] of the list that g was made from. It is in gather form: rows x
// in the order of the list become rows of edges as y[e] = x[EdgeOrder()[e]]. It
// is a permutation of all edges and never nil.
//
// A graph that was not made from a list of edges says in the comment of its
// maker what stands for the list.
func (g *Graph) EdgeOrder() []int32 {
	switch {
	case g.order != nil:
		return g.order
	case g.listOrder != nil:
		return g.listOrder()
	}
	g.top().ownOnce.Do(func() { g.top().own = iota32(g.top().edges) })
	return g.top().own
}

// relisted reports whether the list may be in another order than g's edges.
func (g *Graph) relisted() bool { return g.order != nil || g.listOrder != nil }

// lister returns a function that returns g's EdgeOrder without keeping g.
func (g *Graph) lister() func() []int32 {
	order, edges := g.order, g.top().edges
	switch {
	case order != nil:
		return func() []int32 { return order }
	case g.listOrder != nil:
		return g.listOrder
	}
	return func() []int32 { return iota32(edges) }
}

// Destinations returns the destination of each edge; the sources are In().Cols.
// It is computed once, on first use.
func (g *Graph) Destinations() []int32 {
	g.top().dstOnce.Do(func() {
		in := g.In()
		g.top().dst = make([]int32, g.NumEdges())
		for v := range g.NumDst() {
			for e := in.Offsets[v]; e < in.Offsets[v+1]; e++ {
				g.top().dst[e] = int32(v)
			}
		}
	})
	return g.top().dst
}

// String returns the counts of nodes and edges.
func (g *Graph) String() string {
	if g.top().bipartite {
		return fmt.Sprintf("Graph(%d → %d nodes, %d edges)", g.NumSrc(), g.NumDst(), g.NumEdges())
	}
	return fmt.Sprintf("Graph(%d nodes, %d edges)", g.NumDst(), g.NumEdges())
}

// wantHomogeneous panics if g is nil or bipartite: op has no meaning then.
func (g *Graph) wantHomogeneous(op string) {
	if g == nil || g.top().bipartite {
		mistake.Homogeneous(op, g)
	}
}

// wantFewEdges panics if op makes a graph of more edges of g than there may be.
func (g *Graph) wantFewEdges(op string, edges int) {
	if edges > math.MaxInt32 {
		mistake.Panic(op, []int{g.NumDst(), g.NumEdges()}, "more than 2³¹−1 edges")
	}
}
