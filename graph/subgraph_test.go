package graph

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

func TestSubgraph(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		nodes := graphtest.RandomRows(rng, g.NumNodes())
		h := Must(Subgraph(g, nodes))
		graphtest.Sound(t, h)
		descends(t, h, g, false)
		var want []int32
		for _, v := range nodes {
			for e, u := range g.Sources(int(v)) {
				if slices.Contains(nodes, u) {
					want = append(want, e)
				}
			}
		}
		if !slices.Equal(h.From().Edges, want) || !slices.Equal(h.From().Src, nodes) || h.Bipartite() {
			t.Fatalf("subgraph of %v: edges %v of %v, want %v", nodes, h.From().Edges, h.From().Src, want)
		}
	})
	g := Ring(3, 1)
	for want, nodes := range map[string][]int32{
		"entry 1 of 2 is node 3, not in 0..2": {0, 3}, "entry 1 of 2 is node 2, as entry 0 is": {2, 2}, "entry 0 of 1 is node -1, not in 0..2": {-1},
	} {
		if h, err := Subgraph(g, nodes); h != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Subgraph(%v) = %v, %v", nodes, h, err)
		}
	}
	// an error must leave nothing behind for those who come after it
	if h, err := Subgraph(g, []int32{0, 2}); err != nil || h.NumEdges() != 1 {
		t.Error("after errors:", h, err)
	}
}

func TestEdgeSubgraph(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		edges := graphtest.RandomRows(rng, g.NumEdges())
		h := Must(EdgeSubgraph(g, edges))
		graphtest.Sound(t, h)
		descends(t, h, g, false)
		if h.NumNodes() != g.NumNodes() || h.NumEdges() != len(edges) {
			t.Fatalf("%v of %d edges", h, len(edges))
		}
		for e, i := range h.EdgeOrder() {
			if h.From().Edges[e] != edges[i] {
				t.Fatalf("edge %d is entry %d, edge %d, and comes from %d", e, i, edges[i], h.From().Edges[e])
			}
		}
		all := Must(EdgeSubgraph(g, iota32(g.NumEdges())))
		if !slices.Equal(all.In().Cols, g.In().Cols) || !slices.Equal(all.Kinds(), g.Kinds()) {
			t.Fatal("all edges are not g")
		}
	})
	if h, err := EdgeSubgraph(Ring(3, 1), []int32{3}); h != nil || err == nil || err.Error() != "graph: entry 0 of 1 is edge 3, not in 0..2" {
		t.Error("an edge too far:", err)
	}
}

func TestNeighbourhood(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		seeds, hops := graphtest.RandomRows(rng, g.NumNodes()), rng.IntN(4)
		h := Must(Neighbourhood(g, seeds, hops))
		near := make([]bool, g.NumNodes())
		for _, v := range seeds {
			near[v] = true
		}
		for range hops {
			before := slices.Clone(near)
			for e, u := range g.In().Cols {
				near[u] = near[u] || before[g.Destinations()[e]]
			}
		}
		want := slices.Clone(seeds)
		for v := range near {
			if near[v] && !slices.Contains(seeds, int32(v)) {
				want = append(want, int32(v))
			}
		}
		graphtest.Same(t, h, Must(Subgraph(g, want)))
		sameOrigin(t, h, Must(Subgraph(g, want)))
	})
	if _, err := Neighbourhood(Ring(3, 1), []int32{0, 0}, 1); err == nil || !strings.Contains(err.Error(), "seed 1 of 2 is node 0") {
		t.Error("a repeated seed:", err)
	}
}

// planted returns a graph of communities of 50 under a random numbering; eight
// of ten edges stay inside.
func planted(rng *rand.Rand, nodes, degree int) *Graph {
	ids := rng.Perm(nodes)
	var src, dst []int32
	for u := range nodes {
		for range degree {
			v := rng.IntN(nodes)
			if rng.IntN(10) < 8 {
				v = u/50*50 + rng.IntN(50)
			}
			src, dst = append(src, int32(ids[u])), append(dst, int32(ids[v]))
		}
	}
	return Undirected(Must(New(nodes, src, dst)))
}

func TestReorder(t *testing.T) {
	g := planted(rand.New(rand.NewPCG(1, 40)), 5000, 6)
	h := Reorder(g)
	graphtest.Sound(t, h)
	descends(t, h, g, false)
	if !slices.Equal(slices.Sorted(slices.Values(h.From().Src)), iota32(5000)) {
		t.Error("no permutation")
	}
	near := func(g *Graph) int { // edges that span less than two communities
		n := 0
		for e, u := range g.In().Cols {
			if d := u - g.Destinations()[e]; -100 < d && d < 100 {
				n++
			}
		}
		return 100 * n / g.NumEdges()
	}
	if before, after := near(g), near(h); before > 10 || after < 75 {
		t.Errorf("%d %% of the edges were near before, %d %% are now; 80 %% are planted", before, after)
	}
	graphtest.Same(t, Reorder(g), h)
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := Reorder(g)
		graphtest.Sound(t, h)
		descends(t, h, g, false)
	})
}

func TestPermute(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		nodes := make([]int32, g.NumNodes())
		for i, v := range rng.Perm(len(nodes)) {
			nodes[i] = int32(v)
		}
		h := Must(Permute(g, nodes))
		graphtest.Sound(t, h)
		descends(t, h, g, false)
		if !slices.Equal(h.From().Src, nodes) {
			t.Fatal("nodes:", h.From().Src)
		}
		for e, p := range h.From().Edges {
			if h.EdgeOrder()[e] != g.EdgeOrder()[p] {
				t.Fatal("the list changed")
			}
		}
	})
	g := Ring(3, 1)
	for want, nodes := range map[string][]int32{
		"entry 2 of 3 is node 0, as entry 0 is": {0, 1, 0}, "entry 2 of 3 is node 3, not in 0..2": {0, 1, 3},
	} {
		if h, err := Permute(g, nodes); h != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Permute(%v) = %v, %v", nodes, h, err)
		}
	}
}
