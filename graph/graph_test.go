package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/sparse"
)

// each runs a property on random homogeneous graphs with kinds.
func each(t *testing.T, f func(t *testing.T, rng *rand.Rand, g *Graph)) {
	t.Helper()
	graphtest.Each(t, func(t *testing.T, rng *rand.Rand, l graphtest.Edges) {
		g := Must(New(l.NSrc, l.Src, l.Dst))
		if l.Kinds != nil {
			g = Must(WithKinds(g, l.Kinds))
		}
		f(t, rng, g)
	})
}

// descends checks that h's Origin leads to edges of g with the same ends and
// kinds; swapped says that h's sources are g's destinations.
func descends(t *testing.T, h, g *Graph, swapped bool) {
	t.Helper()
	o := h.From()
	if len(o.Edges) != h.NumEdges() || len(o.Src) != h.NumSrc() || len(o.Dst) != h.NumDst() {
		t.Fatalf("Origin of %d, %d, %d for %v", len(o.Edges), len(o.Src), len(o.Dst), h)
	}
	for e, p := range o.Edges {
		if p < 0 {
			continue
		}
		u, v := o.Src[h.In().Cols[e]], o.Dst[h.Destinations()[e]]
		if swapped {
			u, v = v, u
		}
		if g.In().Cols[p] != u || g.Destinations()[p] != v {
			t.Fatalf("edge %d, %d → %d of the parent, is not its edge %d", e, u, v, p)
		}
		if (h.Kinds() == nil) != (g.Kinds() == nil) || g.Kinds() != nil && h.Kinds()[e] != g.Kinds()[p] {
			t.Fatalf("edge %d has not the kind of edge %d: %v of %v", e, p, h.Kinds(), g.Kinds())
		}
	}
}

func TestBipartiteRefuses(t *testing.T) {
	g := Must(NewBipartite(2, 2, []int32{0}, []int32{1}))
	for op, f := range map[string]func(){
		"graph.NumNodes": func() { g.NumNodes() }, "graph.WithSelfLoops": func() { WithSelfLoops(g) },
		"graph.WithoutSelfLoops": func() { WithoutSelfLoops(g) }, "graph.Roots": func() { g.Roots() }, "graph.Sinks": func() { g.Sinks() },
		"graph.Levels": func() { g.Levels() }, "graph.NodeOffsets": func() { g.NodeOffsets() }, "graph.Membership": func() { Membership(g) },
		"graph.Block": func() { Block(g, nil) }, "graph.Blocks": func() { Blocks(g, nil, 1) },
	} {
		graphtest.Refuses(t, op, f)
	}
}

func TestConcurrentUse(t *testing.T) {
	g, blocks := Chains(5, 3, 9), Batch(Causal(9), Complete(30))
	outs, levels := make([]*sparse.CSR, 8), make([]*Levels, 8)
	ins, parents := make([]*sparse.CSR, 8), make([][]int32, 8)
	var wg sync.WaitGroup
	for i := range outs {
		wg.Go(func() {
			for range blocks.Sources(i) {
				break
			}
			ins[i], parents[i] = blocks.In(), blocks.From().Edges
			Must(Block(blocks, []int32{int32(i), 20}))
			outs[i], _ = g.Out()
			levels[i], _ = g.Levels()
			g.Destinations()
			g.DstRows()
		})
	}
	wg.Wait()
	for i := range outs {
		if ins[i] != ins[0] || &parents[i][0] != &parents[0][0] || outs[i] != outs[0] || levels[i] != levels[0] || levels[i] == nil {
			t.Fatal("computed more than once")
		}
	}
}

func TestKinds(t *testing.T) {
	g := Must(New(3, []int32{0, 1, 2}, []int32{2, 1, 0}))
	if g.Kinds() != nil {
		t.Error("kinds out of nothing:", g.Kinds())
	}
	h := Must(WithKinds(g, []int32{5, 6, 7}))
	if !slices.Equal(h.Kinds(), []int32{7, 6, 5}) || g.Kinds() != nil {
		t.Error("kinds by edge:", h.Kinds(), g.Kinds())
	}
	for want, kinds := range map[string][]int32{
		"edge 1 of 3 has kind -1, want 0 to": {0, -1, 2}, "edge 2 of 3 has kind 2147483647": {0, 0, math.MaxInt32},
	} {
		if h, err := WithKinds(g, kinds); h != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("WithKinds(%v) = %v, %v", kinds, h, err)
		}
	}
	graphtest.Refuses(t, "graph.WithKinds", func() { WithKinds(g, []int32{0, 1}) })
}

func TestCheck(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		var want Report
		seen := map[[2]int32]bool{}
		for e, u := range g.In().Cols {
			v := g.Destinations()[e]
			if u == v {
				want.SelfLoops++
			}
			if seen[[2]int32{u, v}] {
				want.Parallel++
			}
			seen[[2]int32{u, v}] = true
		}
		for v := range int32(g.NumNodes()) {
			in, out := slices.Contains(g.Destinations(), v), slices.Contains(g.In().Cols, v)
			if !in {
				want.NoIn = append(want.NoIn, v)
			}
			if !out {
				want.NoOut = append(want.NoOut, v)
			}
			if !in && !out {
				want.Isolated = append(want.Isolated, v)
			}
		}
		if got := g.Check(); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Fatalf("Check: %#v, want %#v", got, want)
		}
		if !slices.Equal(g.Roots(), want.NoIn) || !slices.Equal(g.Sinks(), want.NoOut) {
			t.Fatal("Roots and Sinks:", g.Roots(), g.Sinks())
		}
	})
	if r := Ring(3, 1).Check(); r.String() != "" {
		t.Errorf("a ring is warned of: %q", r)
	}
	if r := Must(New(4, []int32{0, 0}, []int32{1, 1})).Check(); r.String() != "3 nodes have no in-edges and receive no messages (first: 0); add self-loops?\n"+
		"2 nodes have no edges at all (first: 2)\n1 edges repeat another edge and count again" {
		t.Errorf("warnings: %q", r)
	}
}
