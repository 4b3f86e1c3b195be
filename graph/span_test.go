package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

// joins reports whether the pair is an edge of the block, by the definitions of
// the masks.
func (s Span) joins(i, j int) bool {
	switch s.Mask {
	case NoLoopsMask:
		return i != j
	case CausalMask:
		return i <= j
	case BandMask:
		return max(i-j, j-i) <= s.Width
	case CausalBandMask:
		return i <= j && j-i <= s.Width
	}
	return true
}

// plain returns g without blocks.
func plain(g *Graph) *Graph {
	in := g.In()
	h := ofCSR(g.NumSrc(), in.Offsets, in.Cols, g.Bipartite())
	h.top().dstRows, h.kinds, h.top().places = g.top().dstRows, g.kinds, g.top().places
	return h
}

// randomSpans returns a graph made of blocks: a regular one, or a batch of some.
func randomSpans(rng *rand.Rand) *Graph {
	n := rng.IntN(7)
	switch rng.IntN(8) {
	case 0:
		return Complete(n)
	case 1:
		return CompleteNoLoops(n)
	case 2:
		return Causal(n)
	case 3:
		return CompleteBipartite(n, rng.IntN(5))
	case 4:
		return Band(n, rng.IntN(4))
	case 5:
		return CausalBand(n, rng.IntN(4))
	}
	var gs []*Graph
	for range 1 + rng.IntN(3) {
		gs = append(gs, randomSpans(rng))
	}
	return Batch(gs...)
}

func TestSpan(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		s := Span{Src: rng.IntN(5), NumSrc: rng.IntN(9), Dst: rng.IntN(5), NumDst: rng.IntN(9), Mask: SpanMask(rng.IntN(5)), Width: rng.IntN(11)}
		edges := 0
		for j := range s.NumDst {
			var want, got []int
			for i := range s.NumSrc {
				if s.joins(i, j) {
					want = append(want, s.Src+i)
				}
			}
			lo, hi, skip := s.Sources(j)
			for u := lo; u < hi; u++ {
				if u != skip {
					got = append(got, u)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("sources of destination %d of %+v: %v, want %v", j, s, got, want)
			}
			if s.EdgesBefore(j) != edges {
				t.Fatalf("%d edges before destination %d of %+v, want %d", s.EdgesBefore(j), j, s, edges)
			}
			edges += len(want)
		}
		if s.NumEdges() != edges {
			t.Fatalf("%+v has %d edges, want %d", s, s.NumEdges(), edges)
		}
	}
	if s := fmt.Sprint(FullMask, NoLoopsMask, CausalMask, BandMask, CausalBandMask, SpanMask(9)); s != "full no loops causal band causal band SpanMask(9)" {
		t.Error("names of the masks:", s)
	}
}

// A graph of blocks is the same as one of listed edges, whatever is done to it.
func TestSpans(t *testing.T) {
	views := 0
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 10))
		g := randomSpans(rng)
		if g.Spans() == nil {
			t.Fatal("no blocks:", g)
		}
		isSpans(t, g)
		p := plain(g)
		rows := graphtest.RandomRows(rng, g.NumDst())
		got, want := Must(Dst(g, rows)), Must(Dst(p, rows))
		if got.Spans() != nil {
			views++
			isSpans(t, got)
		}
		graphtest.Same(t, got, want)
		sameOrigin(t, got, want)
		graphtest.Same(t, Batch(got, g), Batch(want, p))
		graphtest.Same(t, Reverse(g), Reverse(p))
		for i, m := range Unbatch(g) {
			if m.Spans() == nil {
				t.Fatal("a member has no blocks")
			}
			isSpans(t, m)
			p.members = g.members
			graphtest.Same(t, m, Unbatch(p)[i])
			sameOrigin(t, m, Unbatch(p)[i])
		}
		if g.NumEdges() > 0 {
			k := graphtest.RandomKinds(rng, g.NumEdges())
			view := Must(Dst(Must(WithKinds(g, k)), rows))
			graphtest.Same(t, view, Must(Dst(Must(WithKinds(p, k)), rows)))
			if (view.Spans() == nil) != (got.Spans() == nil) {
				t.Fatalf("a view of %v without kinds is %v, with kinds %v", g, got, view)
			}
		}
	}
	if views < 200 {
		t.Error("too few views were made of blocks:", views)
	}
}

// isSpans checks the blocks of g against its edges.
func isSpans(t *testing.T, g *Graph) {
	t.Helper()
	graphtest.Sound(t, g)
	edges, end := 0, 0
	for _, s := range g.Spans() {
		if s.Dst < end || s.Src < 0 || s.Src+s.NumSrc > g.NumSrc() || s.Dst+s.NumDst > g.NumDst() {
			t.Fatalf("%+v is out of order or out of range of %v", s, g)
		}
		end = s.Dst + s.NumDst
		edges += s.NumEdges()
		for j := range s.NumDst {
			for i := range s.NumSrc {
				if s.joins(i, j) != slices.Contains(g.sources(s.Dst+j), int32(s.Src+i)) {
					t.Fatalf("%d → %d is not as %+v says", s.Src+i, s.Dst+j, s)
				}
			}
		}
	}
	if edges != g.NumEdges() || edges != len(g.In().Cols) || !slices.Equal(g.EdgeOrder(), iota32(edges)) {
		t.Fatalf("%d edges in blocks, %d counted, %d listed", edges, g.NumEdges(), len(g.In().Cols))
	}
	for v := range g.NumDst() {
		if g.InDegree(v) != len(g.sources(v)) || g.firstEdge(v) != int(g.In().Offsets[v]) {
			t.Fatalf("degree %d, first edge %d of destination %d", g.InDegree(v), g.firstEdge(v), v)
		}
	}
}

// sameOrigin checks that two graphs have the same Origin.
func sameOrigin(t *testing.T, got, want *Graph) {
	t.Helper()
	a, b := got.From(), want.From()
	if !slices.Equal(a.Edges, b.Edges) || !slices.Equal(a.Src, b.Src) || !slices.Equal(a.Dst, b.Dst) {
		t.Fatalf("Origin %v, want %v", a, b)
	}
}

// What a large regular graph answers without its edges must not make them.
func TestSpansHoldNoEdges(t *testing.T) {
	g := Complete(16384)
	b := Batch(g, Causal(20000))
	view, err := Dst(b, []int32{5, 16384, 36383})
	if err != nil {
		t.Fatal(err)
	}
	members := Unbatch(b)
	if g.NumEdges() != 1<<28 || b.NumEdges() != 1<<28+20000*20001/2 || view.NumEdges() != 16384+1+20000 || view.InDegree(2) != 20000 || b.InDegree(36383) != 20000 {
		t.Error("counts:", g, b, view)
	}
	if got := view.From().Edges; got[0] != 5*16384 || got[16384] != 1<<28 || got[16385] != 1<<28+20000*19999/2 {
		t.Error("edges of the view:", got[0], got[16384], got[16385])
	}
	for _, h := range append(members, g, b, view) {
		if h.csr != nil || h.top().in != nil {
			t.Error(h, "has listed its edges")
		}
	}
	if n := testing.AllocsPerRun(10, func() { Complete(16384).NumEdges() }); n > 4 {
		t.Errorf("Complete(16384) takes %v allocations", n)
	}
}

func TestGridAndStar(t *testing.T) {
	for rows := range 5 {
		for cols := range 5 {
			g := Grid(rows, cols)
			graphtest.Sound(t, g)
			edges := 0
			for v := range rows * cols {
				for u := range rows * cols {
					dr, dc := u/cols-v/cols, u%cols-v%cols
					if dr*dr+dc*dc == 1 {
						edges++
						if !slices.Contains(g.sources(v), int32(u)) {
							t.Fatalf("grid %d×%d has no edge %d → %d", rows, cols, u, v)
						}
					}
				}
				if !slices.IsSorted(g.sources(v)) {
					t.Fatal("sources do not ascend:", g.sources(v))
				}
			}
			if g.NumEdges() != edges || g.NumNodes() != rows*cols {
				t.Fatalf("grid %d×%d: %v, want %d edges", rows, cols, g, edges)
			}
		}
	}
	for n := range 6 {
		g := Star(n)
		graphtest.Sound(t, g)
		if n > 0 && (g.InDegree(0) != n-1 || g.OutDegree(0) != n-1) || g.NumEdges() != 2*max(n-1, 0) || !g.Symmetric() || g.Check().SelfLoops > 0 {
			t.Errorf("star of %d: %v", n, g)
		}
	}
	graphtest.Refuses(t, "graph.Star", func() { Star(-1) })
	graphtest.Refuses(t, "graph.Star", func() { Star(1<<30 + 2) })
	graphtest.Refuses(t, "graph.Grid", func() { Grid(3, -1) })
	graphtest.Refuses(t, "graph.Grid", func() { Grid(1<<16, 1<<16) })
	graphtest.Refuses(t, "graph.Grid", func() { Grid(1<<15, 1<<15) })
}
