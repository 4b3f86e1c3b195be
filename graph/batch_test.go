package graph

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

func TestBatch(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var gs []*Graph
		for range rng.IntN(5) {
			l := graphtest.RandomEdges(rng, false)
			g := Must(New(l.NSrc, l.Src, l.Dst))
			switch {
			case seed%3 == 1:
				g = Must(Block(g, graphtest.RandomRows(rng, g.NumNodes())))
			case seed%3 == 2 && rng.IntN(2) == 0:
				l = graphtest.RandomEdges(rng, true)
				g = Must(NewBipartite(l.NSrc, l.NDst, l.Src, l.Dst))
			}
			if seed%2 == 0 && rng.IntN(3) > 0 {
				g = Must(WithKinds(g, graphtest.RandomKinds(rng, g.NumEdges())))
			}
			gs = append(gs, g)
		}
		if !isBatch(t, Batch(gs...), gs) {
			t.Fatal("seed", seed)
		}
	}
}

// isBatch checks b against the definition of a batch, member by member.
func isBatch(t *testing.T, b *Graph, gs []*Graph) (ok bool) {
	t.Helper()
	graphtest.Sound(t, b)
	src, dst, edge, o := 0, 0, 0, b.From()
	dstRows, kinds := b.Bipartite(), false
	for i, g := range gs {
		if b.SrcOffsets()[i] != src || b.DstOffsets()[i] != dst {
			t.Errorf("member %d starts at %d and %d, want %d and %d", i, b.SrcOffsets()[i], b.DstOffsets()[i], src, dst)
			return false
		}
		for e, u := range g.In().Cols {
			if int(b.In().Cols[edge+e]) != src+int(u) || int(b.Destinations()[edge+e]) != dst+int(g.Destinations()[e]) ||
				int(b.EdgeOrder()[edge+e]) != edge+int(g.EdgeOrder()[e]) || int(o.Edges[edge+e]) != e {
				t.Errorf("edge %d of member %d is wrong", e, i)
				return false
			}
			kind := int32(0) // of an edge without
			if g.Kinds() != nil {
				kind = g.Kinds()[e]
			}
			if b.Kinds() != nil && b.Kinds()[edge+e] != kind {
				t.Errorf("edge %d of member %d has kind %d, want %d", e, i, b.Kinds()[edge+e], kind)
			}
		}
		for v := range g.NumDst() {
			if int(o.Dst[dst+v]) != v || b.DstRows() != nil && int(b.DstRows()[dst+v]) != src+int(g.DstRows()[v]) {
				t.Errorf("destination %d of member %d is wrong", v, i)
				return false
			}
		}
		for u := range g.NumSrc() {
			if int(o.Src[src+u]) != u {
				t.Errorf("source %d of member %d is wrong", u, i)
				return false
			}
		}
		dstRows = dstRows && g.DstRows() != nil
		kinds = kinds || g.Kinds() != nil
		src, dst, edge = src+g.NumSrc(), dst+g.NumDst(), edge+g.NumEdges()
	}
	if (b.Bipartite() && (b.DstRows() != nil) != dstRows) || (b.Kinds() != nil) != kinds || b.NumSrc() != src || b.NumDst() != dst || b.NumEdges() != edge {
		t.Errorf("batch %v of %v: kinds %v, rows %v", b, gs, b.Kinds(), b.DstRows())
		return false
	}
	return true
}

func TestMembership(t *testing.T) {
	b := Reverse(WithSelfLoops(Batch(Ring(2, 1), Chains(), Chains(3, 1))))
	if !slices.Equal(b.NodeOffsets(), []int{0, 2, 2, 6}) {
		t.Error("members of a batch are its arguments:", b.NodeOffsets())
	}
	for _, c := range []struct {
		g    *Graph
		want []int32 // members
		n    int
	}{
		{b, []int32{0, 0, 2, 2, 2, 2}, 3}, {Chains(2, 0, 1), []int32{0, 0, 2}, 3}, {Ring(3, 1), []int32{0, 0, 0}, 1},
		{Must(Trees([]int32{-1, 0}, []int32{-1})), []int32{0, 0, 1}, 2}, {Batch(), nil, 0},
	} {
		m := Membership(c.g)
		graphtest.Sound(t, m)
		if !m.Bipartite() || m.NumSrc() != c.g.NumNodes() || m.NumDst() != c.n || !slices.Equal(m.Destinations(), c.want) || !slices.Equal(m.In().Cols, iota32(len(c.want))) {
			t.Errorf("membership of %v: %v, %v → %v", c.g, m, m.In().Cols, m.Destinations())
		}
	}
}

// TestEdgeMembership finds each edge in the member of its destination, of graphs
// that list their edges and of those that hold blocks.
func TestEdgeMembership(t *testing.T) {
	for _, g := range []*Graph{
		WithSelfLoops(Batch(Ring(2, 1), Chains(), Chains(3, 1))), Chains(2, 0, 1), Ring(3, 1), Batch(), Must(New(0, nil, nil)),
		Batch(Complete(2), Causal(3), Band(4, 1)), Batch(CompleteBipartite(2, 3), CompleteBipartite(0, 2), CompleteBipartite(1, 1)),
	} {
		held := g.csr != nil
		m := EdgeMembership(g)
		if held != (g.csr != nil) {
			t.Errorf("%v: its edges were listed", g)
		}
		graphtest.Sound(t, m)
		if !m.Bipartite() || m.NumSrc() != g.NumEdges() || m.NumDst() != len(g.DstOffsets())-1 {
			t.Errorf("%v leads to %v", g, m)
		}
		for e, i := range m.Destinations() {
			v, ends := int(g.Destinations()[e]), g.DstOffsets()
			if v < ends[i] || v >= ends[i+1] || m.In().Cols[e] != int32(e) {
				t.Errorf("%v: edge %d into %d is said to be in member %d, or goes by %d", g, e, v, i, m.In().Cols[e])
			}
		}
	}
}
