package graph

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
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
// ([Graph.Spans]). [Unbatch] takes a batch apart.
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
		if g == nil {
			mistake.Panic("graph.Batch", nil, "member %d of %d is nil", i, len(gs))
		}
		m.src, m.dst = append(m.src, m.src[i]+g.NumSrc()), append(m.dst, m.dst[i]+g.NumDst())
		edges += g.NumEdges()
		if err := mistake.Counts(m.src[i+1], m.dst[i+1], edges); err != nil {
			mistake.Panic("graph.Batch", []int{m.src[i+1], m.dst[i+1]}, "with member %d: %v", i, err)
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

// Unbatch returns the members of a batch, of [Chains] or of [Trees], each a
// graph of its own; of any other graph a list of one. From() leads to the nodes
// and edges of g. A member's list is what g's list has of it, so Unbatch undoes
// [Batch]. Kinds, and the rows of destinations that are sources, are kept.
func Unbatch(g *Graph) []*Graph {
	mistake.Nil("graph.Unbatch", g)
	src, dst := g.SrcOffsets(), g.DstOffsets()
	gs := make([]*Graph, len(src)-1)
	for i := range gs {
		gs[i] = g.member(interval(nil, src[i], src[i+1]), interval(nil, dst[i], dst[i+1]))
	}
	return gs
}

// member returns the graph of a member that has the given sources and
// destinations.
func (g *Graph) member(src, dst []int32) *Graph {
	first, last := 0, 0
	if len(dst) > 0 {
		v := int(dst[len(dst)-1])
		first, last = g.firstEdge(int(dst[0])), g.firstEdge(v)+g.InDegree(v)
	}
	h := g.memberEdges(src, dst, [2]int{first, last})
	if g.relisted() {
		h.order = ranks(g.EdgeOrder()[first:last])
	}
	if g.kinds != nil {
		h.kinds = slices.Clone(g.kinds[first:last])
	}
	if h.top().bipartite && g.top().dstRows != nil {
		h.top().dstRows = make([]int32, len(dst))
		for i, v := range dst {
			h.top().dstRows[i] = g.top().dstRows[v] - src[0]
		}
	}
	g.memberPlaces(h, src, dst)
	h.from.Src, h.from.Dst = src, dst
	h.fromEdges = sync.OnceValue(func() []int32 { return interval(nil, first, last) })
	return h
}

// memberEdges is [Graph.member] without labels and Origin, of edges first[0] up
// to first[1].
func (g *Graph) memberEdges(src, dst []int32, edges [2]int) *Graph {
	if len(dst) == 0 && g.top().spans == nil {
		return ofCSR(len(src), []int64{0}, nil, g.top().bipartite)
	}
	if g.top().spans != nil {
		return ofSpans(len(src), len(dst), g.memberSpans(src, dst), g.top().bipartite)
	}
	lo := int(dst[0])
	offsets := make([]int64, len(dst)+1)
	for i, o := range g.In().Offsets[lo : lo+len(dst)+1] {
		offsets[i] = o - int64(edges[0])
	}
	cols := slices.Clone(g.In().Cols[edges[0]:edges[1]])
	for e := range cols {
		cols[e] -= src[0]
	}
	return ofCSR(len(src), offsets, cols, g.top().bipartite)
}

// memberSpans returns the blocks of a member, never nil.
func (g *Graph) memberSpans(src, dst []int32) []Span {
	spans := []Span{}
	if len(dst) == 0 {
		return spans
	}
	first, end := int(dst[0]), int(dst[len(dst)-1])+1
	i := sort.Search(len(g.top().spans), func(i int) bool { return g.top().spans[i].Dst+g.top().spans[i].NumDst > first })
	for ; i < len(g.top().spans) && g.top().spans[i].Dst < end; i++ {
		s := g.top().spans[i]
		s.Dst -= first
		if s.Src = 0; len(src) > 0 {
			s.Src = g.top().spans[i].Src - int(src[0])
		}
		spans = append(spans, s)
	}
	return spans
}

// ranks returns the place that each of some different numbers has among them.
func ranks(x []int32) []int32 {
	if len(x) == 0 {
		return nil
	}
	if lo := slices.Min(x); int(slices.Max(x)-lo) == len(x)-1 { // as after a Batch
		r := slices.Clone(x)
		for i := range r {
			r[i] -= lo
		}
		return r
	}
	by := iota32(len(x))
	slices.SortFunc(by, func(a, b int32) int { return cmp.Compare(x[a], x[b]) })
	r := make([]int32, len(x))
	for i, j := range by {
		r[j] = int32(i)
	}
	return r
}
