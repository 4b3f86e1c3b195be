package graph

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestChains(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 4))
		lengths := make([]int, rng.IntN(6))
		var src, dst, pos, roots, sinks []int32
		n := 0
		for i := range lengths {
			lengths[i] = rng.IntN(5)
			for p := range lengths[i] {
				v := int32(n + p)
				pos = append(pos, int32(p))
				if p == 0 {
					roots = append(roots, v)
				} else {
					src, dst = append(src, v-1), append(dst, v)
				}
				if p == lengths[i]-1 {
					sinks = append(sinks, v)
				}
			}
			n += lengths[i]
		}
		g := Chains(lengths...)
		same(t, g, Must(New(n, src, dst)))
		if !slices.Equal(g.Positions(), pos) || !slices.Equal(g.Roots(), roots) || !slices.Equal(g.Sinks(), sinks) {
			t.Fatalf("seed %d, lengths %v: positions %v, roots %v, sinks %v", seed, lengths, g.Positions(), g.Roots(), g.Sinks())
		}
		prefixLevels(t, g)
	}
	refuses(t, "graph.Chains", func() { Chains(3, -1) })
	refuses(t, "graph.Chains", func() { Chains(1, math.MaxInt32) })
}

// prefixLevels checks that the predecessors of each level of chains are, in
// order, a prefix of the level before.
func prefixLevels(t *testing.T, g *Graph) {
	t.Helper()
	l, err := g.Levels()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < l.Len(); n++ {
		for i, v := range l.Order[l.Offsets[n]:l.Offsets[n+1]] {
			if u := g.sources(int(v))[0]; l.Order[l.Offsets[n-1]+i] != u {
				t.Fatalf("node %d is number %d of level %d, its predecessor %d is not", v, i, n, u)
			}
		}
	}
}

func TestTrees(t *testing.T) {
	g := Must(Trees([]int32{2, 2, -1, 0, 0}, nil, []int32{-1, 0, -1}))
	sound(t, g)
	want := Must(New(8, []int32{0, 1, 3, 4, 6}, []int32{2, 2, 0, 0, 5}))
	same(t, g, Must(want.WithKinds([]int32{0, 1, 0, 1, 0})))
	if !slices.Equal(g.NodeOffsets(), []int{0, 5, 5, 8}) || !slices.Equal(g.Positions(), []int32{1, 0, 2, 0, 0, 1, 0, 0}) {
		t.Error("members and positions:", g.NodeOffsets(), g.Positions())
	}
	for want, parent := range map[string][]int32{
		"tree 1: node 0 has parent 2, want −1 or a node in 0..1":  {2, -1},
		"tree 1: node 1 has parent -2, want −1 or a node in 0..1": {-1, -2},
		"tree 1: node 0 is its own ancestor":                      {0},
		"tree 1: node 2 is its own ancestor":                      {-1, 2, 3, 2},
	} {
		if g, err := Trees([]int32{-1}, parent); g != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Trees(%v) = %v, %v; want %q", parent, g, err, want)
		}
	}
}

func TestStructures(t *testing.T) {
	for n := range 7 {
		for name, c := range map[string]struct {
			g    *Graph
			edge func(u, v int) bool
		}{
			"Complete":        {Complete(n), func(u, v int) bool { return true }},
			"CompleteNoLoops": {CompleteNoLoops(n), func(u, v int) bool { return u != v }},
			"Causal":          {Causal(n), func(u, v int) bool { return u <= v }},
			"Band 0":          {Band(n, 0), func(u, v int) bool { return u == v }},
			"Band 2":          {Band(n, 2), func(u, v int) bool { return max(u-v, v-u) <= 2 }},
			"Band 99":         {Band(n, 99), func(u, v int) bool { return true }},
			"Ring":            {Ring(n, 0), func(u, v int) bool { return u == v }},
			"Bipartite":       {CompleteBipartite(n, 3), func(u, v int) bool { return true }},
		} {
			sound(t, c.g)
			var src, dst []int32
			for v := range c.g.NumDst() {
				for u := range n {
					if c.edge(u, v) {
						src, dst = append(src, int32(u)), append(dst, int32(v))
					}
				}
			}
			if !slices.Equal(c.g.In().Cols, src) || !slices.Equal(c.g.Destinations(), dst) || c.g.NumSrc() != n || c.g.Bipartite() != (name == "Bipartite") {
				t.Errorf("%s of %d: %v → %v", name, n, c.g.In().Cols, c.g.Destinations())
			}
			if cap(c.g.In().Cols) != len(src) {
				t.Errorf("%s of %d: counted %d edges for %d", name, n, cap(c.g.In().Cols), len(src))
			}
		}
	}
	huge := math.MaxInt32
	huge++ // −2³¹ where an int has 32 bits
	for op, fs := range map[string][]func(){
		"graph.Complete":          {func() { Complete(-1) }, func() { Complete(46341) }, func() { Complete(huge) }},
		"graph.CompleteNoLoops":   {func() { CompleteNoLoops(-1) }, func() { CompleteNoLoops(50000) }},
		"graph.CompleteBipartite": {func() { CompleteBipartite(-1, 2) }, func() { CompleteBipartite(1<<16, 1<<15) }, func() { CompleteBipartite(0, huge) }},
		"graph.Causal":            {func() { Causal(-1) }, func() { Causal(70000) }},
		"graph.Band":              {func() { Band(-1, 0) }, func() { Band(3, -1) }, func() { Band(1<<20, 1<<12) }},
		"graph.Ring":              {func() { Ring(-1, 1) }, func() { Ring(1<<30, 1, 2) }},
	} {
		for _, f := range fs {
			refuses(t, op, f)
		}
	}
}

func TestRing(t *testing.T) {
	for n := 1; n < 6; n++ {
		shifts := []int{1, -1, 0, n, 7}
		g := Ring(n, shifts...)
		sound(t, g)
		for e, u := range g.In().Cols {
			v, k := e/len(shifts), g.Kinds()[e]
			if int(g.Destinations()[e]) != v || int(k) != e%len(shifts) || (int(u)+shifts[k]-v)%n != 0 || int(u) >= n || u < 0 {
				t.Fatalf("ring of %d: edge %d is %d → %d of kind %d", n, e, u, v, k)
			}
		}
	}
	if g := Ring(25); !slices.Equal(g.In().Cols, Ring(25, 1).In().Cols) || g.NumEdges() != 25 {
		t.Error("a ring without shifts:", g)
	}
}

func TestLevels(t *testing.T) {
	acyclic := 0
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		if rng.IntN(2) == 0 { // half of the graphs made acyclic, under a random numbering
			perm, l := rng.Perm(g.NumNodes()), g.list()
			for i := range l.src {
				if u, v := l.src[i], l.dst[i]; perm[u] > perm[v] {
					l.src[i], l.dst[i] = v, u
				}
			}
			g = Must(New(g.NumNodes(), l.src, l.dst)).WithoutSelfLoops()
		}
		l, err := g.Levels()
		if depths := longest(g); depths == nil {
			isCycle(t, g, err)
		} else {
			acyclic++
			if err != nil {
				t.Fatal(err)
			}
			isLevels(t, g, l, depths)
		}
	})
	if acyclic < 50 {
		t.Error("too few acyclic graphs were tried:", acyclic)
	}
}

// longest returns the number of edges of the longest path to each node, by
// relaxing every edge until nothing changes, or nil if that never ends.
func longest(g *Graph) []int32 {
	depth := make([]int32, g.NumNodes())
	for range g.NumNodes() + 1 {
		changed := false
		for e, u := range g.In().Cols {
			if v := g.Destinations()[e]; depth[v] < depth[u]+1 {
				depth[v], changed = depth[u]+1, true
			}
		}
		if !changed {
			return depth
		}
	}
	return nil
}

// isLevels checks l against the definition of levels and of their order.
func isLevels(t *testing.T, g *Graph, l *Levels, depths []int32) {
	t.Helper()
	if !slices.Equal(slices.Sorted(slices.Values(l.Order)), iota32(g.NumNodes())) || !slices.Equal(g.Positions(), depths) {
		t.Fatalf("order %v, positions %v, want %v", l.Order, g.Positions(), depths)
	}
	heights := longest(g.Reverse())
	first := func(v int32) int32 {
		if g.InDegree(int(v)) == 0 {
			return 0
		}
		return l.Rank[g.In().Cols[g.In().Offsets[v]]]
	}
	for i, v := range l.Order {
		if int(l.Rank[v]) != i || int(depths[v]) >= l.Len() || i < l.Offsets[depths[v]] || i >= l.Offsets[depths[v]+1] {
			t.Fatalf("node %d of depth %d is at %d, rank %d, offsets %v", v, depths[v], i, l.Rank[v], l.Offsets)
		}
		if i == 0 || depths[l.Order[i-1]] != depths[v] {
			continue
		}
		u := l.Order[i-1]
		if slices.Compare([]int32{-heights[u], first(u), u}, []int32{-heights[v], first(v), v}) >= 0 {
			t.Fatalf("within a level, %d comes before %d: heights %v", u, v, heights)
		}
	}
}

// isCycle checks that err names a cycle of g, and says so.
func isCycle(t *testing.T, g *Graph, err error) {
	t.Helper()
	var c *CycleError
	if !errors.As(err, &c) || len(c.Cycle) == 0 {
		t.Fatalf("error %v for a graph with a cycle", err)
	}
	for i, u := range c.Cycle {
		if v := c.Cycle[(i+1)%len(c.Cycle)]; !slices.Contains(g.sources(int(v)), u) || slices.Contains(c.Cycle[:i], u) {
			t.Fatalf("%v is no cycle", c.Cycle)
		}
	}
	refuses(t, "graph.Positions", func() { g.Positions() })
}

func TestCycleError(t *testing.T) {
	_, err := Must(New(6, []int32{5, 3, 0, 1}, []int32{3, 5, 1, 3})).Levels()
	if err == nil || err.Error() != "graph: cycle through nodes 3 → 5 → 3" {
		t.Error("a cycle of two:", err)
	}
	_, err = Ring(40, 1).Levels()
	if err == nil || !strings.HasSuffix(err.Error(), "→ 15 → … (40 in all) → 0") {
		t.Error("a cycle of forty:", err)
	}
}

func BenchmarkLevels(b *testing.B) {
	lengths := make([]int, 64)
	for i := range lengths {
		lengths[i] = 20 + i*37%80
	}
	b.Run(fmt.Sprintf("chains/%d", len(lengths)), func(b *testing.B) {
		for b.Loop() {
			if _, err := Chains(lengths...).Levels(); err != nil {
				b.Fatal(err)
			}
		}
	})
}
