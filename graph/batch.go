package graph

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Batch returns the disjoint union of gs, each one member of the result: the
// nodes of the first, then those of the second, and so on. It is bipartite if a
// member is; then both sides are joined so, and its destinations are sources
// ([Graph.DstRows]) if they are in every member. Members of the members are
// forgotten.
//
// Edges keep their order: those of the first member come first, and the list is
// the members' lists in the same order. From() has no single parent; it gives
// the number of each edge and node inside its member. Kinds are kept if a member
// has any, and the edges of members without are of kind 0: a chain among trees has
// first children. A batch of graphs made of blocks is made of blocks
// ([Graph.Spans]). [Graph.Unbatch] takes a batch apart.
//
// It panics with a [*tensor.ShapeError] if there are more than 2³¹−1 nodes on a
// side, or edges.
func Batch(gs ...*Graph) *Graph {
	m, edges := unite(gs)
	h := joinEdges(gs, m, edges)
	h.kinds, h.members = batchKinds(gs, edges), m
	h.from.Src, h.from.Dst = make([]int32, 0, h.top().nSrc), make([]int32, 0, h.top().nDst)
	for _, g := range gs {
		h.from.Src = append(h.from.Src, iota32(g.NumSrc())...)
		h.from.Dst = append(h.from.Dst, iota32(g.NumDst())...)
	}
	h.fromEdges = sync.OnceValue(func() []int32 {
		from := make([]int32, 0, edges)
		for _, g := range gs {
			from = append(from, iota32(g.NumEdges())...)
		}
		return from
	})
	if h.top().bipartite {
		h.top().dstRows = batchDstRows(gs, m)
		batchPlaces(h, gs, m)
	} else {
		m.dst, h.from.Dst = m.src, h.from.Src
	}
	return h
}

// joinEdges returns the union m of gs without labels and Origin.
func joinEdges(gs []*Graph, m *members, edges int) *Graph {
	bipartite := slices.ContainsFunc(gs, (*Graph).Bipartite)
	src, dst := m.src[len(gs)], m.dst[len(gs)]
	if spans := joinSpans(gs, m); spans != nil {
		return ofSpans(src, dst, spans, bipartite)
	}
	offsets, cols := make([]int64, 1, dst+1), make([]int32, 0, edges)
	var order []int32
	if slices.ContainsFunc(gs, (*Graph).relisted) {
		order = make([]int32, 0, edges)
	}
	for i, g := range gs {
		base, in := len(cols), g.In()
		for _, o := range in.Offsets[1:] {
			offsets = append(offsets, int64(base)+o)
		}
		cols = appendShifted(cols, in.Cols, m.src[i])
		if order != nil {
			order = appendShifted(order, g.EdgeOrder(), base)
		}
	}
	h := ofCSR(src, offsets, cols, bipartite)
	h.order = order
	return h
}

// joinSpans returns the blocks of the union of gs, or nil if one of them is not
// made of blocks.
func joinSpans(gs []*Graph, m *members) []Span {
	var spans []Span
	for i, g := range gs {
		if g.top().spans == nil {
			return nil
		}
		for _, s := range g.top().spans {
			s.Src, s.Dst = s.Src+m.src[i], s.Dst+m.dst[i]
			spans = append(spans, s)
		}
	}
	return spans
}

// unite returns the members of the union of gs and the number of its edges.
func unite(gs []*Graph) (m *members, edges int) {
	m = &members{src: []int{0}, dst: []int{0}}
	for i, g := range gs {
		m.src, m.dst = append(m.src, m.src[i]+g.NumSrc()), append(m.dst, m.dst[i]+g.NumDst())
		edges += g.NumEdges()
		if err := checkCounts(m.src[i+1], m.dst[i+1], edges); err != nil {
			panic(&tensor.ShapeError{Op: "graph.Batch", Shapes: [][]int{{m.src[i], m.dst[i]}, {g.NumSrc(), g.NumDst()}}, Why: err.Error()})
		}
	}
	return m, edges
}

// batchKinds returns the kinds of the union of gs, or nil if none has kinds.
func batchKinds(gs []*Graph, edges int) []int32 {
	if !slices.ContainsFunc(gs, func(g *Graph) bool { return g.kinds != nil }) {
		return nil
	}
	kinds := make([]int32, edges)
	at := kinds
	for _, g := range gs {
		copy(at, g.kinds)
		at = at[g.NumEdges():]
	}
	return kinds
}

// batchDstRows returns DstRows of the bipartite union of gs.
func batchDstRows(gs []*Graph, m *members) []int32 {
	rows := make([]int32, 0, m.dst[len(gs)])
	for i, g := range gs {
		r := g.DstRows()
		if r == nil && g.top().bipartite {
			return nil
		}
		rows = appendShifted(rows, r, m.src[i])
	}
	return rows
}

// appendShifted appends x, each element plus by, to to.
func appendShifted(to, x []int32, by int) []int32 {
	n := len(to)
	to = slices.Grow(to, len(x))[:n+len(x)]
	shiftInto(to[n:], x, by)
	return to
}

// shiftInto sets the first of to to the elements of x, each larger by so much.
func shiftInto(to, x []int32, by int) {
	to = to[:len(x)]
	for i, v := range x {
		to[i] = v + int32(by)
	}
}
