package graph

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

func TestWithSelfLoops(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := WithSelfLoops(g)
		graphtest.Sound(t, h)
		descends(t, h, g, false)
		added, last := 0, int32(0)
		for _, k := range g.Kinds() {
			last = max(last, k+1)
		}
		for e, p := range h.From().Edges {
			v := h.Destinations()[e]
			if p >= 0 {
				if h.EdgeOrder()[e] != g.EdgeOrder()[p] {
					t.Fatal("old edges changed their place in the list:", h.EdgeOrder())
				}
				continue
			}
			added++
			if h.In().Cols[e] != v || g.hasLoop(int(v)) || int64(e)+1 != h.In().Offsets[v+1] || int(h.EdgeOrder()[e]) < g.NumEdges() {
				t.Fatalf("new edge %d at node %d: %v %v", e, v, h.In(), h.EdgeOrder())
			}
			if g.Kinds() != nil && h.Kinds()[e] != last {
				t.Fatalf("a new loop has kind %d, want %d", h.Kinds()[e], last)
			}
		}
		if h.NumEdges() != g.NumEdges()+added {
			t.Fatalf("%d edges and %d loops make %d", g.NumEdges(), added, h.NumEdges())
		}
		for v := range h.NumNodes() {
			if !h.hasLoop(v) {
				t.Fatal("no loop at node", v)
			}
		}
		again := WithSelfLoops(h)
		graphtest.Same(t, again, h)
		descends(t, again, h, false)
		if !slices.Equal(again.From().Edges, iota32(h.NumEdges())) {
			t.Fatal("Origin of a graph that had all its loops:", again.From().Edges)
		}
	})
}

func TestWithoutSelfLoops(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := WithoutSelfLoops(g)
		graphtest.Sound(t, h)
		descends(t, h, g, false)
		var want []int32
		for e, u := range g.In().Cols {
			if u != g.Destinations()[e] {
				want = append(want, int32(e))
			}
		}
		if !slices.Equal(h.From().Edges, want) {
			t.Fatalf("kept edges %v, want %v", h.From().Edges, want)
		}
	})
}

// TestSelfLoopsAllocate: adding loops copies the columns once, and says where edges
// come from only when it is asked; a graph of a list of edges, which is sorted,
// allocates more.
func TestSelfLoopsAllocate(t *testing.T) {
	const n, edges = 1 << 15, 1 << 18
	rng := rand.New(rand.NewPCG(1, 2))
	src, dst := make([]int32, edges), make([]int32, edges)
	for i := range src {
		src[i], dst[i] = rng.Int32N(n), rng.Int32N(n)
	}
	var g *Graph
	allocated := func(f func()) (bytes uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	made := allocated(func() { g = Must(New(n, src, dst)) })
	looped := allocated(func() { WithSelfLoops(g) })
	if want := uint64(4*(edges+n) + 8*(n+1) + 4*n); looped > want+want/8 || looped > made {
		t.Errorf("WithSelfLoops allocates %d bytes, New %d; the columns, offsets and nodes are %d", looped, made, want)
	}
}
