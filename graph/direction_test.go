package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

func TestReverse(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		r := Reverse(g)
		graphtest.Sound(t, r)
		descends(t, r, g, true)
		if slices.Contains(r.From().Edges, -1) || !slices.Equal(slices.Sorted(slices.Values(r.From().Edges)), iota32(g.NumEdges())) {
			t.Fatal("Reverse lost edges:", r.From().Edges)
		}
		for e, p := range r.From().Edges {
			if r.EdgeOrder()[e] != g.EdgeOrder()[p] {
				t.Fatalf("edge %d is entry %d of the list, its parent %d", e, r.EdgeOrder()[e], g.EdgeOrder()[p])
			}
		}
		graphtest.Same(t, Reverse(r), g)
	})
}

func TestReverseBipartite(t *testing.T) {
	g := Must(NewBipartite(3, 2, []int32{2, 0, 2}, []int32{1, 1, 0}))
	r := Reverse(g)
	graphtest.Sound(t, r)
	if !r.Bipartite() || r.NumSrc() != 2 || r.NumDst() != 3 || r.DstRows() != nil {
		t.Error("reversed:", r, r.DstRows())
	}
	if !slices.Equal(r.From().Src, []int32{0, 1}) || !slices.Equal(r.From().Dst, []int32{0, 1, 2}) {
		t.Error("Origin:", r.From())
	}
	graphtest.Same(t, Reverse(r), g)
	b := Reverse(Batch(g, g))
	if !slices.Equal(b.SrcOffsets(), []int{0, 2, 4}) || !slices.Equal(b.DstOffsets(), []int{0, 3, 6}) {
		t.Error("members of a reversed batch:", b.SrcOffsets(), b.DstOffsets())
	}
}

// count returns how many edges lead from u to v.
func count(g *Graph, u, v int32) int {
	n := 0
	for e, s := range g.In().Cols {
		if s == u && g.Destinations()[e] == v {
			n++
		}
	}
	return n
}

func TestUndirected(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := Undirected(g)
		graphtest.Sound(t, h)
		symmetric := true
		for v := range int32(g.NumNodes()) {
			for u := range int32(g.NumNodes()) {
				there, back := count(g, u, v), count(g, v, u)
				symmetric = symmetric && there == back
				if got := count(h, u, v); got != max(there, back) {
					t.Fatalf("%d edges %d → %d out of %d and %d back", got, u, v, there, back)
				}
			}
		}
		if g.Symmetric() != symmetric || !h.Symmetric() {
			t.Fatal("Symmetric:", g.Symmetric(), h.Symmetric())
		}
		for e, p := range h.From().Edges {
			u, v := h.In().Cols[e], h.Destinations()[e]
			if int(h.EdgeOrder()[e]) >= g.NumEdges() { // a new edge
				u, v = v, u
			} else if h.EdgeOrder()[e] != g.EdgeOrder()[p] {
				t.Fatal("old edges changed their place in the list")
			}
			if g.In().Cols[p] != u || g.Destinations()[p] != v || g.Kinds() != nil && g.Kinds()[p] != h.Kinds()[e] {
				t.Fatalf("edge %d does not come from edge %d", e, p)
			}
		}
		graphtest.Same(t, Undirected(h), h)
	})
}
