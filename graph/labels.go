package graph

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Kinds returns the kind of each edge, or nil if edges have none. A kind is a
// small number from 0 up: a relation, a child's ordinal, a shift.
func (g *Graph) Kinds() []int32 { return g.kinds }

// WithKinds returns g with kinds for its edges, given in the order of g's list:
// edge e gets kinds[g.EdgeOrder()[e]]. Kinds that g had are replaced. The error
// names the first kind that is negative or 2³¹−1. It panics with a [*tensor.ShapeError] unless there is one for each edge.
func WithKinds(g *Graph, kinds []int32) (*Graph, error) {
	mistake.Nil("graph.WithKinds", g)
	mistake.Length("graph.WithKinds", "kinds", len(kinds), "edges", g.NumEdges())
	for i, k := range kinds {
		if k < 0 || k == math.MaxInt32 { // the last is left for the loops of WithSelfLoops
			return nil, fmt.Errorf("graph: edge %d of %d has kind %d, want 0 to %d", i, len(kinds), k, math.MaxInt32-1)
		}
	}
	h := *g
	h.kinds = append(make([]int32, 0, len(kinds)), kinds...)
	if g.relisted() {
		h.kinds = gather(kinds, g.EdgeOrder())
	}
	return &h, nil
}

// places is where the nodes of a graph stand, whose numbers do not tell.
type places struct{ src, dst []int32 }

// Places returns where each source and each destination stands, so that the offset of
// an edge is the place of its destination less that of its source. A nil src means that
// every source stands at its own number. Then a destination stands at that of the
// source which it is ([Graph.DstRows]); on any other bipartite graph at that of the
// source with the same number inside its member, whether there is one or not.
//
// Blocks and [Dst] views have the places of the graph they are made from, and
// their offsets; of a [Batch] they are counted on. Any other graph with other nodes,
// such as a subgraph, has places of its own.
func (g *Graph) Places() (src, dst []int32) {
	switch t := g.top(); {
	case t.places != nil:
		return t.places.src, t.places.dst
	case !t.bipartite || t.dstRows != nil:
		return nil, g.DstRows()
	case g.members == nil:
		return nil, g.nodes()
	}
	return nil, Derive(g, placesKey{g.members}, func() []int32 {
		dst := make([]int32, 0, g.NumDst())
		for i, lo := range g.members.src[:len(g.members.src)-1] {
			for j := range g.members.dst[i+1] - g.members.dst[i] {
				dst = append(dst, int32(lo+j))
			}
		}
		return dst
	})
}

type placesKey struct{ members *members }

// WithPlaces returns g as a bipartite graph whose sources and destinations stand where src
// and dst say ([Graph.Places]): rows of a table that are nodes of another graph. It panics
// with a [*tensor.ShapeError] unless there is a place for each.
func WithPlaces(g *Graph, src, dst []int32) *Graph {
	mistake.Nil("graph.WithPlaces", g)
	mistake.Length("graph.WithPlaces", "places", len(src), "sources", g.NumSrc())
	mistake.Length("graph.WithPlaces", "places", len(dst), "destinations", g.NumDst())
	h := *g
	h.shared = &topology{nSrc: g.NumSrc(), nDst: g.NumDst(), edges: g.NumEdges(), bipartite: true, spans: g.top().spans}
	h.shared.places = &places{src, dst}
	return &h
}

// viewPlaces gives h, a view of rows of g's destinations, the places of g.
func (g *Graph) viewPlaces(h *Graph, rows []int32) {
	if t := g.top(); t.places != nil || t.bipartite && t.dstRows == nil {
		src, dst := g.Places()
		h.top().places = &places{src, gather(dst, rows)}
	}
}

// blockPlaces gives h, a block of g with such sources and destinations, the places of g.
func (g *Graph) blockPlaces(h *Graph, src, dst []int32) {
	from, to := g.Places()
	if h.top().places = (&places{src, gather(to, dst)}); from != nil {
		h.top().places.src = gather(from, src)
	}
}

// turnPlaces gives h, the reverse of a bipartite graph, the places of g.
func (g *Graph) turnPlaces(h *Graph) {
	src, dst := g.Places()
	if src == nil {
		src = iota32(g.NumSrc())
	}
	h.top().places = &places{dst, src}
}

// batchPlaces gives h, the bipartite union of gs, theirs.
func batchPlaces(h *Graph, gs []*Graph, m *members) {
	known := false
	for _, g := range gs {
		known = known || g.top().places != nil
	}
	if !known {
		return
	}
	p := &places{}
	for i, g := range gs {
		src, dst := g.Places()
		if src == nil {
			src = iota32(g.NumSrc())
		}
		p.src, p.dst = appendShifted(p.src, src, m.src[i]), appendShifted(p.dst, dst, m.src[i])
	}
	h.top().places = p
}

// memberPlaces gives h, a member of a bipartite batch g that has such sources and
// destinations, its part of g's.
func (g *Graph) memberPlaces(h *Graph, src, dst []int32) {
	p := g.top().places
	if p == nil || len(src) == 0 {
		return
	}
	q := &places{dst: appendShifted(nil, gather(p.dst, dst), -int(src[0]))}
	if p.src != nil {
		q.src = appendShifted(nil, gather(p.src, src), -int(src[0]))
	}
	h.top().places = q
}

// WithOffsets returns g with the offset of each edge for its kind, counted from lo: an
// offset below lo counts as lo and one above hi as hi, so there are hi−lo+1 kinds. It
// panics with a [*tensor.ShapeError] if hi is below lo. To pick by offset no such list
// is needed: see message.Msg.PickOffset.
func WithOffsets(g *Graph, lo, hi int) *Graph {
	mistake.Nil("graph.WithOffsets", g)
	if hi < lo || hi-lo < 0 {
		mistake.Panic("graph.WithOffsets", []int{g.NumEdges()}, "there are no offsets from %d to %d", lo, hi)
	}
	src, dst := g.Places()
	in := g.In()
	kinds := make([]int32, 0, len(in.Cols))
	for v, at := range dst {
		for _, u := range in.Cols[in.Offsets[v]:in.Offsets[v+1]] {
			if src != nil {
				u = src[u]
			}
			kinds = append(kinds, int32(min(max(int(at)-int(u), lo), hi)-lo))
		}
	}
	h := *g
	h.kinds = kinds
	return &h
}
