package graph

import (
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Span is a dense block of edges: every source of one range to every
// destination of another, under a mask. Its sources are Src to Src+NumSrc, its
// destinations Dst to Dst+NumDst, without the latter of each.
type Span struct {
	Src, NumSrc, Dst, NumDst int
	Mask                     SpanMask
	Width                    int // of a BandMask and a CausalBandMask
}

// SpanMask says which pairs of a [Span] are edges, by the number i of the source
// and the number j of the destination, each counted in its own range.
type SpanMask uint8

// The masks.
const (
	FullMask       SpanMask = iota // every pair
	NoLoopsMask                    // i ≠ j
	CausalMask                     // i ≤ j
	BandMask                       // |i−j| ≤ Width
	CausalBandMask                 // 0 ≤ j−i ≤ Width
)

// String returns the name of the mask.
func (m SpanMask) String() string {
	names := []string{"full", "no loops", "causal", "band", "causal band"}
	if int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("SpanMask(%d)", uint8(m))
}

// Spans returns the blocks that g is made of, or nil if it is not made of
// blocks. No two share a destination, and their destinations ascend; one that no
// block has got has no in-edges. The edges of such a graph are in the order of
// their destinations and then of their sources, and so is its list.
//
// [Complete], [CompleteNoLoops], [CompleteBipartite], [Causal], [Band] and
// [CausalBand] are one block each; a [Batch] of such graphs, a member of it and most of their
// [Dst] views are made of blocks too. They hold no edges until [Graph.In]
// or what needs it is called: dense kernels, [Graph.NumEdges] and
// [Graph.InDegree] do not.
func (g *Graph) Spans() []Span { return g.top().spans }

// Sources returns the sources of destination Dst+j: they go from lo up to hi,
// without hi, and without skip if that is not −1.
func (s Span) Sources(j int) (lo, hi, skip int) {
	lo, hi, skip = 0, s.NumSrc, -1
	switch s.Mask {
	case NoLoopsMask:
		if j < s.NumSrc {
			skip = s.Src + j
		}
	case CausalMask:
		hi = min(j+1, hi)
	case BandMask:
		lo, hi = min(max(j-s.Width, 0), s.NumSrc), min(j+s.Width+1, hi)
	case CausalBandMask:
		lo, hi = min(max(j-s.Width, 0), s.NumSrc), min(j+1, hi)
	}
	return s.Src + lo, s.Src + hi, skip
}

// NumEdges returns the number of edges of the block.
func (s Span) NumEdges() int {
	switch s.Mask {
	case NoLoopsMask:
		return s.NumSrc*s.NumDst - min(s.NumSrc, s.NumDst)
	case CausalMask:
		return s.ramp(1)
	case BandMask:
		return s.ramp(s.Width+1) - s.ramp(-s.Width)
	case CausalBandMask:
		return s.ramp(1) - s.ramp(-s.Width)
	}
	return s.NumSrc * s.NumDst
}

// ramp returns the sum over the destinations j of j+c, held between 0 and NumSrc.
func (s Span) ramp(c int) int {
	first := min(max(-c, 0), s.NumDst)
	last := min(max(s.NumSrc-c, first), s.NumDst)
	n := last - first
	return n*(first+last-1)/2 + n*c + (s.NumDst-last)*s.NumSrc
}

// EdgesBefore returns the number of the block's edges into destinations below
// Dst+j.
func (s Span) EdgesBefore(j int) int {
	s.NumDst = j
	return s.NumEdges()
}

// ofSpans returns the graph of blocks that are in order and have no more edges
// than a graph may.
func ofSpans(nSrc, nDst int, spans []Span, bipartite bool) *Graph {
	edges := 0
	for _, s := range spans {
		edges += s.NumEdges()
	}
	return &Graph{shared: &topology{nSrc: nSrc, nDst: nDst, edges: edges, spans: spans, bipartite: bipartite}}
}

// expand lists the edges of a graph of blocks.
func (g *Graph) expand() *sparse.CSR {
	offsets, cols := make([]int64, 1, g.top().nDst+1), make([]int32, 0, g.top().edges)
	upTo := func(v int) {
		for len(offsets) <= v {
			offsets = append(offsets, int64(len(cols)))
		}
	}
	for _, s := range g.top().spans {
		upTo(s.Dst)
		for j := range s.NumDst {
			lo, hi, skip := s.Sources(j)
			if skip >= 0 {
				cols = interval(cols, lo, skip)
				lo = skip + 1
			}
			cols = interval(cols, lo, hi)
			upTo(s.Dst + j + 1)
		}
	}
	upTo(g.top().nDst)
	return &sparse.CSR{Offsets: offsets, Cols: cols, NumRows: g.top().nDst, NumCols: g.top().nSrc}
}

// spanOf returns the block of destination v, or an empty one.
func (g *Graph) spanOf(v int) Span {
	i := sort.Search(len(g.top().spans), func(i int) bool { return g.top().spans[i].Dst+g.top().spans[i].NumDst > v })
	if i < len(g.top().spans) && g.top().spans[i].Dst <= v {
		return g.top().spans[i]
	}
	return Span{Dst: v, NumDst: 1}
}

// spanDegree is [Graph.InDegree] of a graph of blocks.
func (g *Graph) spanDegree(v int) int {
	if v < 0 || v >= g.top().nDst {
		mistake.Panic("graph.InDegree", []int{g.top().nDst}, "destination %d is not in %s", v, mistake.Range(g.top().nDst))
	}
	s := g.spanOf(v)
	lo, hi, skip := s.Sources(v - s.Dst)
	if skip >= 0 {
		hi--
	}
	return hi - lo
}

// spanRows returns the graph of the in-edges of the given destinations of a
// graph of blocks, as [Graph.rows] does, or nil if they are not made of blocks.
func (g *Graph) spanRows(rows []int32) *Graph {
	if slices.ContainsFunc(g.top().spans, func(s Span) bool { return s.Mask == NoLoopsMask }) {
		return nil
	}
	spans := make([]Span, 0, len(rows))
	for i, v := range rows {
		s := g.spanOf(int(v))
		lo, hi, _ := s.Sources(int(v) - s.Dst)
		if n := len(spans); n > 0 && spans[n-1].Src == lo && spans[n-1].NumSrc == hi-lo {
			spans[n-1].NumDst++
			continue
		}
		spans = append(spans, Span{Src: lo, NumSrc: hi - lo, Dst: i, NumDst: 1})
	}
	h := ofSpans(g.top().nSrc, len(rows), spans, true)
	h.from.Dst = rows
	h.fromEdges = sync.OnceValue(func() []int32 { return g.edgesInto(rows) })
	if g.kinds != nil {
		h.kinds = gather(g.kinds, h.fromEdges())
	}
	return h
}

// interval appends lo, lo+1, … hi−1 to cols.
func interval(cols []int32, lo, hi int) []int32 {
	for u := lo; u < hi; u++ {
		cols = append(cols, int32(u))
	}
	return cols
}
