package graph

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Origin says what a derived graph is made of. Edges holds, for each edge, the
// parent's edge: its number in the parent's own order, so that rows of the
// parent's edges are carried over by one gather. Src and Dst hold, for each
// source and each destination, the parent's node. What is new has −1.
//
// Of a homogeneous graph Src and Dst are the same.
type Origin struct {
	Edges, Src, Dst []int32
}

// From returns what g is made of, if it was made from another graph, and the
// zero Origin if it was made from a list or is one of the regular graphs.
// [WithKinds] only adds labels: its result has the receiver's Origin.
//
// Of a graph of blocks ([Graph.Spans]) the edges are listed on first use.
func (g *Graph) From() Origin {
	o := g.from
	if g.fromEdges != nil {
		o.Edges = g.fromEdges()
	}
	return o
}

// DstRows returns, for each destination, which source it is: of a block
// 0..NumDst−1, of a [Dst] view its rows, of a homogeneous graph each node
// itself. On any other bipartite graph destinations are not sources, and it
// returns nil.
func (g *Graph) DstRows() []int32 {
	if g.top().bipartite {
		return g.top().dstRows
	}
	return g.nodes()
}

// WithOrigin returns g as made of another graph: From() returns from, which must not be modified afterwards. It is for
// functions outside this package that make graphs of graphs. Lists that from does not have are nil. It panics with a
// [*tensor.ShapeError] unless each other one has an entry for each edge, source or destination.
func WithOrigin(g *Graph, from Origin) *Graph {
	const op = "graph.WithOrigin"
	mistake.Nil(op, g)
	for _, list := range []struct {
		is     []int32
		things string
		n      int
	}{{from.Edges, "edges", g.NumEdges()}, {from.Src, "sources", g.NumSrc()}, {from.Dst, "destinations", g.NumDst()}} {
		if list.is != nil {
			mistake.Length(op, "origins", len(list.is), list.things, list.n)
		}
	}
	h := *g
	h.from, h.fromEdges = from, nil
	return &h
}

// WithDstRows returns a bipartite graph whose destinations are some of its sources: destination v is source rows[v], as in
// a block. The error names a row that there is none of. It panics with a [*tensor.ShapeError] unless g is bipartite and
// there is a row for each destination.
func WithDstRows(g *Graph, rows []int32) (*Graph, error) {
	const op = "graph.WithDstRows"
	mistake.Nil(op, g)
	if !g.Bipartite() {
		mistake.Panic(op, []int{g.NumDst()}, "the graph is not bipartite")
	}
	mistake.Length(op, "rows", len(rows), "destinations", g.NumDst())
	for v, u := range rows {
		if u < 0 || int(u) >= g.NumSrc() {
			return nil, fmt.Errorf("graph: destination %d is source %d, not in %s", v, u, mistake.Range(g.NumSrc()))
		}
	}
	h, t := *g, g.top()
	h.shared = &topology{nSrc: t.nSrc, nDst: t.nDst, edges: t.edges, bipartite: true, dstRows: slices.Clone(rows), places: t.places, spans: t.spans}
	return &h, nil
}

// nodes returns each node of a homogeneous graph, in order.
func (g *Graph) nodes() []int32 {
	g.top().identityOnce.Do(func() { g.top().identity = iota32(g.NumDst()) })
	return g.top().identity
}

// derive makes h, just built over g's nodes, a child of g: it keeps g's nodes
// and members. The edges are up to the caller.
func (g *Graph) derive(h *Graph) *Graph {
	h.members = g.members
	if !g.top().bipartite {
		h.from.Src, h.from.Dst = g.nodes(), g.nodes()
		return h
	}
	h.top().bipartite, h.top().dstRows, h.top().places = true, g.top().dstRows, g.top().places
	h.from.Src, h.from.Dst = iota32(g.NumSrc()), iota32(g.NumDst())
	return h
}
