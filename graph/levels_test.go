package graph

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

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
			g = WithoutSelfLoops(Must(New(g.NumNodes(), l.src, l.dst)))
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
	heights := longest(Reverse(g))
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
	graphtest.Refuses(t, "graph.Positions", func() { g.Positions() })
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
