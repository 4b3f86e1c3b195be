package graph

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"pgregory.net/rapid"
)

// drawn returns generated lists of edges between generated numbers of nodes.
func drawn(t *rapid.T, nSrc, nDst int) (src, dst []int32) {
	if nSrc == 0 || nDst == 0 {
		return nil, nil
	}
	edge := rapid.Custom(func(t *rapid.T) [2]int32 {
		return [2]int32{rapid.Int32Range(0, int32(nSrc-1)).Draw(t, "u"), rapid.Int32Range(0, int32(nDst-1)).Draw(t, "v")}
	})
	for _, e := range rapid.SliceOfN(edge, 0, 24).Draw(t, "edges") {
		src, dst = append(src, e[0]), append(dst, e[1])
	}
	return src, dst
}

// homogeneous generates graphs: of lists, regular ones and batches, with and
// without kinds.
func homogeneous(t *rapid.T) *Graph {
	n := rapid.IntRange(0, 8).Draw(t, "nodes")
	var g *Graph
	switch rapid.IntRange(0, 6).Draw(t, "what") {
	case 0:
		g = CompleteNoLoops(n)
	case 1:
		g = Causal(n)
	case 2:
		g = Chains(n, 2, n/2)
	case 3:
		g = Batch(Band(n, 1), Complete(n/2))
	default:
		src, dst := drawn(t, n, n)
		g = Must(New(n, src, dst))
	}
	if rapid.Bool().Draw(t, "with kinds") {
		kind := rapid.Int32Range(0, 3)
		g = Must(WithKinds(g, rapid.SliceOfN(kind, g.NumEdges(), g.NumEdges()).Draw(t, "kinds")))
	}
	return g
}

// bipartites generates bipartite graphs.
func bipartites(t *rapid.T) *Graph {
	nSrc, nDst := rapid.IntRange(0, 6).Draw(t, "sources"), rapid.IntRange(0, 6).Draw(t, "destinations")
	if rapid.Bool().Draw(t, "complete") {
		return CompleteBipartite(nSrc, nDst)
	}
	src, dst := drawn(t, nSrc, nDst)
	return Must(NewBipartite(nSrc, nDst, src, dst))
}

// some generates distinct numbers below n in any order.
func some(t *rapid.T, n int) []int32 {
	return rapid.Permutation(iota32(n)).Draw(t, "order")[:rapid.IntRange(0, n).Draw(t, "how many")]
}

// property checks f on generated graphs. A failure is replayed with the seed
// that rapid prints.
func property(t *testing.T, f func(t *testing.T, r *rapid.T)) {
	t.Helper()
	rapid.Check(t, func(r *rapid.T) {
		f(t, r)
		if t.Failed() {
			r.FailNow()
		}
	})
}

func TestReverseOfReverse(t *testing.T) {
	property(t, func(t *testing.T, r *rapid.T) {
		for _, g := range []*Graph{homogeneous(r), bipartites(r)} {
			back := Reverse(Reverse(g))
			graphtest.Same(t, back, g)
			first, second := Reverse(g).From().Edges, back.From().Edges
			for e := range second {
				if first[second[e]] != int32(e) {
					t.Fatalf("edge %d comes from %d, which comes from %d", e, second[e], first[second[e]])
				}
			}
		}
	})
}

func TestPermuteAndBack(t *testing.T) {
	property(t, func(t *testing.T, r *rapid.T) {
		g := homogeneous(r)
		nodes := rapid.Permutation(iota32(g.NumNodes())).Draw(r, "nodes")
		back := make([]int32, len(nodes))
		for i, v := range nodes {
			back[v] = int32(i)
		}
		graphtest.Same(t, Must(Permute(Must(Permute(g, nodes)), back)), g)
	})
}

func TestBatchAndUnbatch(t *testing.T) {
	property(t, func(t *testing.T, r *rapid.T) {
		build := homogeneous
		if rapid.Bool().Draw(r, "bipartite") {
			build = bipartites
		}
		var gs []*Graph
		kinds := false
		for range rapid.IntRange(0, 4).Draw(r, "members") {
			gs = append(gs, build(r))
			kinds = kinds || gs[len(gs)-1].Kinds() != nil
		}
		b := Batch(gs...)
		members := Unbatch(b)
		if len(members) != len(gs) {
			t.Fatalf("%d members out of %d", len(members), len(gs))
		}
		for i, m := range members {
			graphtest.Sound(t, m)
			descends(t, m, b, false)
			want := *gs[i]
			if kinds && want.kinds == nil {
				want.kinds = make([]int32, want.NumEdges())
			}
			graphtest.Same(t, m, &want)
		}
		graphtest.Same(t, Batch(members...), b)
	})
}

// Every graph made from a graph says which of the parent's edges and nodes it
// is made of.
func TestOrigins(t *testing.T) {
	property(t, func(t *testing.T, r *rapid.T) {
		g := homogeneous(r)
		rows := some(r, g.NumNodes())
		h, _, _ := Coalesce(g)
		for name, child := range map[string]*Graph{
			"WithSelfLoops": WithSelfLoops(g), "WithoutSelfLoops": WithoutSelfLoops(g), "Coalesce": h,
			"Subgraph": Must(Subgraph(g, rows)), "Neighbourhood": Must(Neighbourhood(g, rows, 2)), "EdgeSubgraph": Must(EdgeSubgraph(g, some(r, g.NumEdges()))),
			"Dst": Must(Dst(g, rows)), "Block": Must(Block(g, rows)), "Permute": Must(Permute(g, rapid.Permutation(iota32(g.NumNodes())).Draw(r, "nodes"))),
		} {
			graphtest.Sound(t, child)
			descends(t, child, g, false)
			if name != "WithSelfLoops" && slices.Contains(child.From().Edges, -1) {
				t.Fatalf("%s has an edge out of nothing: %v", name, child.From().Edges)
			}
		}
		descends(t, Reverse(g), g, true)
		b := bipartites(r)
		for _, child := range []*Graph{Must(Dst(b, some(r, b.NumDst()))), Must(EdgeSubgraph(b, some(r, b.NumEdges())))} {
			graphtest.Sound(t, child)
			descends(t, child, b, false)
		}
	})
}

// A neighbourhood holds all that a network of that many layers reads: every
// in-edge of a node fewer hops away.
func TestNeighbourhoodIsWholeInside(t *testing.T) {
	property(t, func(t *testing.T, r *rapid.T) {
		g := homogeneous(r)
		seeds, hops := some(r, g.NumNodes()), rapid.IntRange(1, 3).Draw(r, "hops")
		h, inner := Must(Neighbourhood(g, seeds, hops)), Must(Neighbourhood(g, seeds, hops-1))
		for i, v := range h.From().Src {
			if slices.Contains(inner.From().Src, v) && h.InDegree(i) != g.InDegree(int(v)) {
				t.Fatalf("node %d has %d of its %d in-edges", v, h.InDegree(i), g.InDegree(int(v)))
			}
		}
		if !slices.Equal(h.From().Src[:len(seeds)], seeds) {
			t.Fatalf("seeds %v come as %v", seeds, h.From().Src)
		}
	})
}

// What is done to a batch is done to its members.
func TestUnbatchOfDerived(t *testing.T) {
	property(t, func(t *testing.T, r *rapid.T) {
		var gs, blocks []*Graph
		for range rapid.IntRange(1, 3).Draw(r, "members") {
			g := *homogeneous(r)
			g.kinds = nil // WithSelfLoops finds its own
			gs = append(gs, &g)
			blocks = append(blocks, Must(Block(&g, some(r, g.NumNodes()))))
		}
		b := Batch(gs...)
		for i := range gs {
			graphtest.Same(t, Unbatch(WithSelfLoops(b))[i], WithSelfLoops(gs[i]))
			graphtest.Same(t, Unbatch(WithoutSelfLoops(b))[i], WithoutSelfLoops(gs[i]))
			graphtest.Same(t, Unbatch(Reverse(b))[i], Reverse(gs[i]))
			graphtest.Same(t, Unbatch(Undirected(b))[i], Undirected(gs[i]))
			m := Unbatch(Batch(blocks...))[i]
			graphtest.Same(t, m, blocks[i])
			if !slices.Equal(m.DstRows(), blocks[i].DstRows()) {
				t.Fatalf("rows %v of a member, want %v", m.DstRows(), blocks[i].DstRows())
			}
		}
	})
}
