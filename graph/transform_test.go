package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

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
		h := g.Undirected()
		sound(t, h)
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
		same(t, h.Undirected(), h)
	})
}

func TestCoalesce(t *testing.T) {
	check := func(t *testing.T, g *Graph) {
		h, counts, into := g.Coalesce()
		sound(t, h)
		descends(t, h, g, false)
		if h.Bipartite() != g.Bipartite() || !slices.Equal(h.DstRows(), g.DstRows()) {
			t.Fatal("nodes of", h)
		}
		type edge struct{ u, v, kind int32 }
		key := func(g *Graph, e int) edge {
			k := edge{u: g.In().Cols[e], v: g.Destinations()[e]}
			if g.Kinds() != nil {
				k.kind = g.Kinds()[e]
			}
			return k
		}
		left, got := map[edge]int32{}, make([]int32, h.NumEdges())
		for e, k := range into {
			if key(h, int(k)) != key(g, e) {
				t.Fatalf("edge %v went into %v", key(g, e), key(h, int(k)))
			}
			got[k]++
			left[key(g, e)]++
		}
		if !slices.Equal(got, counts) || len(left) != h.NumEdges() {
			t.Fatalf("counts %v, want %v; %d edges, want %d", counts, got, h.NumEdges(), len(left))
		}
		for e, p := range h.From().Edges {
			if left[key(h, e)] != counts[e] || slices.Index(into, int32(e)) != int(p) {
				t.Fatalf("edge %d counts %d from %d", e, counts[e], p)
			}
		}
		again, counts, _ := h.Coalesce()
		same(t, again, h)
		if len(counts) > 0 && slices.Max(counts) != 1 {
			t.Fatal("twice:", counts)
		}
	}
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		check(t, g)
		check(t, Must(g.Block(randomRows(rng, g.NumNodes()))))
	})
}

func TestSubgraph(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		nodes := randomRows(rng, g.NumNodes())
		h := Must(g.Subgraph(nodes))
		sound(t, h)
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
		if h, err := g.Subgraph(nodes); h != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Subgraph(%v) = %v, %v", nodes, h, err)
		}
	}
	// an error must leave nothing behind for those who come after it
	if h, err := g.Subgraph([]int32{0, 2}); err != nil || h.NumEdges() != 1 {
		t.Error("after errors:", h, err)
	}
}

func TestEdgeSubgraph(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		edges := randomRows(rng, g.NumEdges())
		h := Must(g.EdgeSubgraph(edges))
		sound(t, h)
		descends(t, h, g, false)
		if h.NumNodes() != g.NumNodes() || h.NumEdges() != len(edges) {
			t.Fatalf("%v of %d edges", h, len(edges))
		}
		for e, i := range h.EdgeOrder() {
			if h.From().Edges[e] != edges[i] {
				t.Fatalf("edge %d is entry %d, edge %d, and comes from %d", e, i, edges[i], h.From().Edges[e])
			}
		}
		all := Must(g.EdgeSubgraph(iota32(g.NumEdges())))
		if !slices.Equal(all.In().Cols, g.In().Cols) || !slices.Equal(all.Kinds(), g.Kinds()) {
			t.Fatal("all edges are not g")
		}
	})
	if h, err := Ring(3, 1).EdgeSubgraph([]int32{3}); h != nil || err == nil || err.Error() != "graph: entry 0 of 1 is edge 3, not in 0..2" {
		t.Error("an edge too far:", err)
	}
}

func TestNeighbourhood(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		seeds, hops := randomRows(rng, g.NumNodes()), rng.IntN(4)
		h := Must(g.Neighbourhood(seeds, hops))
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
		same(t, h, Must(g.Subgraph(want)))
		sameOrigin(t, h, Must(g.Subgraph(want)))
	})
	if _, err := Ring(3, 1).Neighbourhood([]int32{0}, -1); err == nil || !strings.Contains(err.Error(), "-1 hops") {
		t.Error("a negative number of hops:", err)
	}
	if _, err := Ring(3, 1).Neighbourhood([]int32{0, 0}, 1); err == nil || !strings.Contains(err.Error(), "seed 1 of 2 is node 0") {
		t.Error("a repeated seed:", err)
	}
}

func TestComponents(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		n, of := g.Components()
		want := iota32(g.NumNodes()) // the lowest node of each node's component, by spreading it
		for range g.NumNodes() {
			for e, u := range g.In().Cols {
				v := g.Destinations()[e]
				want[u], want[v] = min(want[u], want[v]), min(want[u], want[v])
			}
		}
		number := map[int32]int32{}
		for v, low := range want {
			if int(low) == v {
				number[low] = int32(len(number))
			}
			if of[v] != number[low] {
				t.Fatalf("components %v, lowest nodes %v", of, want)
			}
		}
		if n != len(number) {
			t.Fatalf("%d components, want %d", n, len(number))
		}
	})
}

// The largest component is the first of those of most nodes.
func TestLargestComponent(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		n, of := g.Components()
		parts := make([][]int32, n)
		for v, c := range of {
			parts[c] = append(parts[c], int32(v))
		}
		var want []int32
		for _, p := range parts {
			if len(p) > len(want) {
				want = p
			}
		}
		if got := g.LargestComponent(); !slices.Equal(got, want) {
			t.Fatalf("the largest component is %v, want %v", got, want)
		}
	})
}

func TestPermute(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		nodes := make([]int32, g.NumNodes())
		for i, v := range rng.Perm(len(nodes)) {
			nodes[i] = int32(v)
		}
		h := Must(g.Permute(nodes))
		sound(t, h)
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
		"a permutation of 2 for 3 nodes": {0, 1}, "entry 2 of 3 is node 0, as entry 0 is": {0, 1, 0}, "entry 2 of 3 is node 3, not in 0..2": {0, 1, 3},
	} {
		if h, err := g.Permute(nodes); h != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Permute(%v) = %v, %v", nodes, h, err)
		}
	}
}

func TestLineGraph(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := Must(g.LineGraph())
		sound(t, h)
		var src, dst []int32
		for f, u := range g.In().Cols {
			for e, v := range g.Destinations() {
				if u == v {
					src, dst = append(src, int32(e)), append(dst, int32(f))
				}
			}
		}
		same(t, h, Must(New(g.NumEdges(), src, dst)))
	})
	if h, err := Star(50_000).LineGraph(); h != nil || err == nil || !strings.Contains(err.Error(), "the line graph of Graph(50000 nodes, 99998 edges) has 2499950000 edges, at most") {
		t.Error("a line graph of too many edges:", err)
	}
}

func TestDegreesAndIterators(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		in, out := g.InDegrees(), g.OutDegrees()
		seen := 0
		for v := range g.NumNodes() {
			if int(in[v]) != g.InDegree(v) || int(out[v]) != g.OutDegree(v) {
				t.Fatal("degrees of node", v)
			}
			n := 0
			for e, u := range g.Sources(v) {
				if g.In().Cols[e] != u || int(g.Destinations()[e]) != v || int(e) != seen {
					t.Fatalf("edge %d is not %d → %d", e, u, v)
				}
				n++
				seen++
			}
			last := int32(-1)
			for e, w := range g.Targets(v) {
				if int(g.In().Cols[e]) != v || g.Destinations()[e] != w || e <= last {
					t.Fatalf("edge %d is not %d → %d", e, v, w)
				}
				last = e
				n--
			}
			if n != g.InDegree(v)-g.OutDegree(v) {
				t.Fatal("edges of node", v)
			}
			for range g.Sources(v) {
				break // stopping early must be possible
			}
			for range g.Targets(v) {
				break
			}
		}
		if seen != g.NumEdges() {
			t.Fatalf("%d edges of %d", seen, g.NumEdges())
		}
	})
	g, sum := Ring(100, 1, 2, 3), int32(0)
	g.Out()
	if n := testing.AllocsPerRun(10, func() {
		for v := range g.NumNodes() {
			for e, u := range g.Sources(v) {
				sum += e + u
			}
			for e, w := range g.Targets(v) {
				sum += e - w
			}
		}
	}); n != 0 {
		t.Errorf("iterators allocate %v times", n)
	}
}

// Graphs with nothing in them go through everything.
func TestEmptyGraphs(t *testing.T) {
	for _, g := range []*Graph{
		Must(New(0, nil, nil)), Must(New(1, nil, nil)), Must(New(4, nil, nil)), Complete(0), Complete(1), Chains(), Chains(0), Batch(),
		Star(0), Grid(0, 3), Batch(Complete(0), Complete(0)), Must(New(1, []int32{0}, []int32{0})),
	} {
		name := fmt.Sprint(g)
		c, counts, into := g.Coalesce()
		n, of := g.Components()
		for _, h := range []*Graph{
			g.Reverse(), g.WithSelfLoops(), g.WithoutSelfLoops(), g.Undirected(), c, Must(g.Subgraph(nil)), Must(g.EdgeSubgraph(nil)),
			Must(g.Neighbourhood(nil, 3)), Must(g.Permute(g.nodes())), Must(g.LineGraph()), Must(g.Block(nil)), Must(g.Dst(nil)),
			Batch(g, g), g.Membership(), Must(g.WithKinds(make([]int32, g.NumEdges()))),
		} {
			sound(t, h)
		}
		for _, m := range g.Unbatch() {
			sound(t, m)
		}
		if len(counts) != c.NumEdges() || len(into) != g.NumEdges() || len(of) != g.NumNodes() || n > g.NumNodes() {
			t.Errorf("%s: counts %v, into %v, components %v", name, counts, into, of)
		}
		if g.Gonum().Nodes().Len() != g.NumNodes() {
			t.Errorf("%s: the view has %d nodes", name, g.Gonum().Nodes().Len())
		}
		if _, err := g.GonumUndirected(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
