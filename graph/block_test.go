package graph

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

func TestBlock(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		seeds := graphtest.RandomRows(rng, g.NumNodes())
		b := Must(Block(g, seeds))
		isBlock(t, b, g, seeds)
		seeds2 := graphtest.RandomRows(rng, b.NumDst())
		isBlock(t, Must(Block(b, seeds2)), b, seeds2) // destinations of a block are sources, so it has blocks
		view := Must(Dst(g, seeds))
		isBlock(t, Must(Block(view, seeds2)), view, seeds2) // here row and source differ
		before := Must(Block(g, b.From().Src))
		isBlock(t, before, g, b.From().Src)
		blocks := Must(Blocks(g, seeds, 2))
		isBlock(t, blocks[1], g, seeds)
		isBlock(t, blocks[0], g, blocks[1].From().Src)
		if none, err := Blocks(g, seeds, 0); len(none) != 0 || err != nil {
			t.Errorf("no layers have %d blocks, %v", len(none), err)
		}
	})
}

// Blocks of few and of many seeds of a graph of more nodes than a word of marks' words
// stands for, and then of a smaller one.
func TestLargeBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for _, nodes := range []int{100, 3*wordBits*wordBits + 70, 2000} {
		g := Must(New(nodes, anyOf(rng, nodes, 3*nodes), anyOf(rng, nodes, 3*nodes)))
		for _, n := range []int{1, 5, 40, 700, 2000} {
			n = min(n, nodes)
			seeds := make([]int32, 0, n)
			for _, v := range rng.Perm(nodes)[:n] {
				seeds = append(seeds, int32(v))
			}
			isBlock(t, Must(Block(g, seeds)), g, seeds)
		}
	}
}

// isBlock checks b against the definition of graph.Block(g, seeds).
func isBlock(t *testing.T, b, g *Graph, seeds []int32) {
	t.Helper()
	graphtest.Sound(t, b)
	descends(t, b, g, false)
	if !b.Bipartite() || !slices.Equal(b.From().Dst, seeds) || !slices.Equal(b.DstRows(), iota32(len(seeds))) {
		t.Fatalf("destinations %v at rows %v, want seeds %v", b.From().Dst, b.DstRows(), seeds)
	}
	var want, own, others []int32 // edges, sources that are seeds, others
	for _, v := range seeds {
		own = append(own, g.DstRows()[v])
		for e := g.In().Offsets[v]; e < g.In().Offsets[v+1]; e++ {
			want = append(want, int32(e))
		}
	}
	for _, e := range want {
		if u := g.In().Cols[e]; !slices.Contains(own, u) && !slices.Contains(others, u) {
			others = append(others, u)
		}
	}
	slices.Sort(others)
	if !slices.Equal(b.From().Edges, want) || !slices.Equal(b.From().Src, append(own, others...)) {
		t.Fatalf("block of %v: edges %v from %v, want %v from %v then %v", seeds, b.From().Edges, b.From().Src, want, own, others)
	}
}

func TestDst(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		rows := graphtest.RandomRows(rng, g.NumNodes())
		h := Must(Dst(g, rows))
		graphtest.Sound(t, h)
		descends(t, h, g, false)
		if !h.Bipartite() || h.NumSrc() != g.NumNodes() || !slices.Equal(h.From().Dst, rows) || !slices.Equal(h.DstRows(), rows) {
			t.Fatalf("Dst(%v) = %v with rows %v", rows, h, h.DstRows())
		}
		for i, v := range rows {
			if !slices.Equal(h.sources(i), g.sources(int(v))) {
				t.Fatalf("row %d has sources %v, want %v", i, h.sources(i), g.sources(int(v)))
			}
		}
		b := Must(Block(g, rows))
		if some := graphtest.RandomRows(rng, len(rows)); !slices.Equal(Must(Dst(b, some)).DstRows(), some) {
			t.Fatal("Dst of a block lost its rows")
		}
	})
	g := Must(NewBipartite(3, 2, []int32{2, 0}, []int32{1, 0}))
	if h := Must(Dst(g, []int32{1})); h.DstRows() != nil || !slices.Equal(h.In().Cols, []int32{2}) {
		t.Error("Dst of a bipartite graph:", h.DstRows(), h.In().Cols)
	}
}

func TestRowErrors(t *testing.T) {
	g := Ring(3, 1)
	for want, seeds := range map[string][]int32{
		"seed 2 of 3 is node 1, as seed 0 is": {1, 0, 1}, "seed 1 of 2 is node 3, not in 0..2": {0, 3}, "seed 0 of 1 is node -1, not in 0..2": {-1},
	} {
		if b, err := Block(g, seeds); b != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Block(%v) = %v, %v", seeds, b, err)
		}
		if bs, err := Blocks(g, seeds, 0); bs != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Blocks(%v, 0) = %v, %v", seeds, bs, err)
		}
		want = strings.ReplaceAll(want, "seed", "row")
		if b, err := Dst(g, seeds); b != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Dst(%v) = %v, %v", seeds, b, err)
		}
	}
}

// BlockOf of all in-edges is Block; of some it has these, in their order; and it names
// what cannot be.
func TestBlockOf(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		var seeds []int32
		var some []int32
		offsets, all, allOffsets := []int64{0}, []int32(nil), []int64{0}
		for _, v := range rng.Perm(g.NumNodes())[:g.NumNodes()/2] {
			seeds = append(seeds, int32(v))
			for e := range g.Sources(v) {
				if all = append(all, int32(e)); rng.IntN(2) == 0 {
					some = append(some, int32(e))
				}
			}
			offsets, allOffsets = append(offsets, int64(len(some))), append(allOffsets, int64(len(all)))
		}
		b := Must(BlockOf(g, seeds, allOffsets, all))
		graphtest.Same(t, b, Must(Block(g, seeds)))
		b = Must(BlockOf(g, seeds, offsets, some))
		if !slices.Equal(b.From().Edges, some) || !slices.Equal(b.From().Dst, seeds) || b.DstRows() == nil && len(seeds) > 0 {
			t.Fatal("BlockOf", some, "has", b.From())
		}
		for e, u := range b.In().Cols {
			if b.From().Src[u] != g.In().Cols[some[e]] {
				t.Fatalf("edge %d comes from another node", e)
			}
		}
	})
	g := Ring(4, 1, 2)
	for _, c := range []struct {
		seeds   []int32
		offsets []int64
		edges   []int32
		want    string
	}{
		{[]int32{1}, []int64{0, 1}, []int32{0}, "edge 0 of seed 0, node 1"},
		{[]int32{1}, []int64{0, 2}, []int32{3, 2}, "edge 2 of seed 0"},
		{[]int32{1}, []int64{0, 3}, []int32{2}, "offset"},
		{[]int32{1, 1}, []int64{0, 0, 0}, nil, "seed 1"},
		{[]int32{4}, []int64{0, 0}, nil, "seed 0"},
	} {
		if _, err := BlockOf(g, c.seeds, c.offsets, c.edges); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("BlockOf(%v, %v, %v): %v, want %q", c.seeds, c.offsets, c.edges, err, c.want)
		}
	}
}

// anyOf returns so many nodes of a graph, each any.
func anyOf(rng *rand.Rand, nodes, count int) []int32 {
	list := make([]int32, count)
	for i := range list {
		list[i] = int32(rng.IntN(nodes))
	}
	return list
}
