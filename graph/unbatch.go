package graph

import (
	"cmp"
	"slices"
	"sort"
	"sync"
)

// Unbatch returns the members of a batch, of [Chains] or of [Trees], each a
// graph of its own; of any other graph a list of one. From() leads to the nodes
// and edges of g. A member's list is what g's list has of it, so Unbatch undoes
// [Batch]. Kinds, and the rows of destinations that are sources, are kept.
func (g *Graph) Unbatch() []*Graph {
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
