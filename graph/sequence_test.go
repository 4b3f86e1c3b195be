package graph

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
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
		graphtest.Same(t, g, Must(New(n, src, dst)))
		if !slices.Equal(g.Positions(), pos) || !slices.Equal(g.Roots(), roots) || !slices.Equal(g.Sinks(), sinks) {
			t.Fatalf("seed %d, lengths %v: positions %v, roots %v, sinks %v", seed, lengths, g.Positions(), g.Roots(), g.Sinks())
		}
		prefixLevels(t, g)
	}
	graphtest.Refuses(t, "graph.Chains", func() { Chains(3, -1) })
	graphtest.Refuses(t, "graph.Chains", func() { Chains(1, math.MaxInt32) })
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
	graphtest.Sound(t, g)
	want := Must(New(8, []int32{0, 1, 3, 4, 6}, []int32{2, 2, 0, 0, 5}))
	graphtest.Same(t, g, Must(WithKinds(want, []int32{0, 1, 0, 1, 0})))
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
			graphtest.Sound(t, c.g)
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
			graphtest.Refuses(t, op, f)
		}
	}
}

func TestRing(t *testing.T) {
	for n := 1; n < 6; n++ {
		shifts := []int{1, -1, 0, n, 7}
		g := Ring(n, shifts...)
		graphtest.Sound(t, g)
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
