package graph

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestReverse(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		r := g.Reverse()
		sound(t, r)
		descends(t, r, g, true)
		if slices.Contains(r.From().Edges, -1) || !slices.Equal(slices.Sorted(slices.Values(r.From().Edges)), iota32(g.NumEdges())) {
			t.Fatal("Reverse lost edges:", r.From().Edges)
		}
		for e, p := range r.From().Edges {
			if r.EdgeOrder()[e] != g.EdgeOrder()[p] {
				t.Fatalf("edge %d is entry %d of the list, its parent %d", e, r.EdgeOrder()[e], g.EdgeOrder()[p])
			}
		}
		same(t, r.Reverse(), g)
	})
}

func TestReverseBipartite(t *testing.T) {
	g := Must(NewBipartite(3, 2, []int32{2, 0, 2}, []int32{1, 1, 0}))
	r := g.Reverse()
	sound(t, r)
	if !r.Bipartite() || r.NumSrc() != 2 || r.NumDst() != 3 || r.DstRows() != nil {
		t.Error("reversed:", r, r.DstRows())
	}
	if !slices.Equal(r.From().Src, []int32{0, 1}) || !slices.Equal(r.From().Dst, []int32{0, 1, 2}) {
		t.Error("Origin:", r.From())
	}
	same(t, r.Reverse(), g)
	b := Batch(g, g).Reverse()
	if !slices.Equal(b.SrcOffsets(), []int{0, 2, 4}) || !slices.Equal(b.DstOffsets(), []int{0, 3, 6}) {
		t.Error("members of a reversed batch:", b.SrcOffsets(), b.DstOffsets())
	}
}

func TestWithSelfLoops(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := g.WithSelfLoops()
		sound(t, h)
		descends(t, h, g, false)
		added, last := 0, int32(0)
		for _, k := range g.Kinds() {
			last = max(last, k+1)
		}
		for e, p := range h.From().Edges {
			v := h.Destinations()[e]
			if p >= 0 {
				if h.EdgeOrder()[e] != g.EdgeOrder()[p] {
					t.Fatal("old edges changed their place in the list:", h.EdgeOrder())
				}
				continue
			}
			added++
			if h.In().Cols[e] != v || g.hasLoop(int(v)) || int64(e)+1 != h.In().Offsets[v+1] || int(h.EdgeOrder()[e]) < g.NumEdges() {
				t.Fatalf("new edge %d at node %d: %v %v", e, v, h.In(), h.EdgeOrder())
			}
			if g.Kinds() != nil && h.Kinds()[e] != last {
				t.Fatalf("a new loop has kind %d, want %d", h.Kinds()[e], last)
			}
		}
		if h.NumEdges() != g.NumEdges()+added {
			t.Fatalf("%d edges and %d loops make %d", g.NumEdges(), added, h.NumEdges())
		}
		for v := range h.NumNodes() {
			if !h.hasLoop(v) {
				t.Fatal("no loop at node", v)
			}
		}
		again := h.WithSelfLoops()
		same(t, again, h)
		descends(t, again, h, false)
		if !slices.Equal(again.From().Edges, iota32(h.NumEdges())) {
			t.Fatal("Origin of a graph that had all its loops:", again.From().Edges)
		}
	})
}

func TestWithoutSelfLoops(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, g *Graph) {
		h := g.WithoutSelfLoops()
		sound(t, h)
		descends(t, h, g, false)
		var want []int32
		for e, u := range g.In().Cols {
			if u != g.Destinations()[e] {
				want = append(want, int32(e))
			}
		}
		if !slices.Equal(h.From().Edges, want) {
			t.Fatalf("kept edges %v, want %v", h.From().Edges, want)
		}
	})
}

func TestBlock(t *testing.T) {
	each(t, func(t *testing.T, rng *rand.Rand, g *Graph) {
		seeds := randomRows(rng, g.NumNodes())
		b := Must(g.Block(seeds))
		isBlock(t, b, g, seeds)
		seeds2 := randomRows(rng, b.NumDst())
		isBlock(t, Must(b.Block(seeds2)), b, seeds2) // destinations of a block are sources, so it has blocks
		view := Must(g.Dst(seeds))
		isBlock(t, Must(view.Block(seeds2)), view, seeds2) // here row and source differ
		before := Must(g.Block(b.From().Src))
		isBlock(t, before, g, b.From().Src)
		blocks := Must(g.Blocks(seeds, 2))
		isBlock(t, blocks[1], g, seeds)
		isBlock(t, blocks[0], g, blocks[1].From().Src)
		if none, err := g.Blocks(seeds, 0); len(none) != 0 || err != nil {
			t.Errorf("no layers have %d blocks, %v", len(none), err)
		}
	})
}

// Blocks of few and of many seeds of a graph of more nodes than a word of marks' words
// stands for, and then of a smaller one.
func TestLargeBlock(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	for _, nodes := range []int{100, 3*wordBits*wordBits + 70, 2000} {
		g := Must(Uniform(rng, nodes, 3*nodes))
		for _, n := range []int{1, 5, 40, 700, 2000} {
			n = min(n, nodes)
			seeds := make([]int32, 0, n)
			for _, v := range rng.Perm(nodes)[:n] {
				seeds = append(seeds, int32(v))
			}
			isBlock(t, Must(g.Block(seeds)), g, seeds)
		}
	}
}

// randomRows returns some of n numbers, in any order.
func randomRows(rng *rand.Rand, n int) []int32 {
	rows := make([]int32, 0, n)
	for _, v := range rng.Perm(n)[:rng.IntN(n+1)] {
		rows = append(rows, int32(v))
	}
	return rows
}

// isBlock checks b against the definition of g.Block(seeds).
func isBlock(t *testing.T, b, g *Graph, seeds []int32) {
	t.Helper()
	sound(t, b)
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
		rows := randomRows(rng, g.NumNodes())
		h := Must(g.Dst(rows))
		sound(t, h)
		descends(t, h, g, false)
		if !h.Bipartite() || h.NumSrc() != g.NumNodes() || !slices.Equal(h.From().Dst, rows) || !slices.Equal(h.DstRows(), rows) {
			t.Fatalf("Dst(%v) = %v with rows %v", rows, h, h.DstRows())
		}
		for i, v := range rows {
			if !slices.Equal(h.sources(i), g.sources(int(v))) {
				t.Fatalf("row %d has sources %v, want %v", i, h.sources(i), g.sources(int(v)))
			}
		}
		b := Must(g.Block(rows))
		if some := randomRows(rng, len(rows)); !slices.Equal(Must(b.Dst(some)).DstRows(), some) {
			t.Fatal("Dst of a block lost its rows")
		}
	})
	g := Must(NewBipartite(3, 2, []int32{2, 0}, []int32{1, 0}))
	if h := Must(g.Dst([]int32{1})); h.DstRows() != nil || !slices.Equal(h.In().Cols, []int32{2}) {
		t.Error("Dst of a bipartite graph:", h.DstRows(), h.In().Cols)
	}
}

func TestRowErrors(t *testing.T) {
	g := Ring(3, 1)
	for want, seeds := range map[string][]int32{
		"seed 2 of 3 is node 1, as seed 0 is": {1, 0, 1}, "seed 1 of 2 is node 3, not in 0..2": {0, 3}, "seed 0 of 1 is node -1, not in 0..2": {-1},
	} {
		if b, err := g.Block(seeds); b != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Block(%v) = %v, %v", seeds, b, err)
		}
		if bs, err := g.Blocks(seeds, 0); bs != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Blocks(%v, 0) = %v, %v", seeds, bs, err)
		}
		want = strings.ReplaceAll(want, "seed", "row")
		if b, err := g.Dst(seeds); b != nil || err == nil || err.Error() != "graph: "+want {
			t.Errorf("Dst(%v) = %v, %v", seeds, b, err)
		}
	}
	if bs, err := g.Blocks(nil, -1); bs != nil || err == nil || err.Error() != "graph: blocks for -1 layers, want 0 or more" {
		t.Errorf("Blocks(nil, -1) = %v, %v", bs, err)
	}
}

func TestBatch(t *testing.T) {
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var gs []*Graph
		for range rng.IntN(5) {
			l := randomEdges(rng, false)
			g := Must(New(l.nSrc, l.src, l.dst))
			switch {
			case seed%3 == 1:
				g = Must(g.Block(randomRows(rng, g.NumNodes())))
			case seed%3 == 2 && rng.IntN(2) == 0:
				l = randomEdges(rng, true)
				g = Must(NewBipartite(l.nSrc, l.nDst, l.src, l.dst))
			}
			if seed%2 == 0 && rng.IntN(3) > 0 {
				g = Must(g.WithKinds(randomKinds(rng, g.NumEdges())))
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
	sound(t, b)
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
	b := Batch(Ring(2, 1), Chains(), Chains(3, 1)).WithSelfLoops().Reverse()
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
		m := c.g.Membership()
		sound(t, m)
		if !m.Bipartite() || m.NumSrc() != c.g.NumNodes() || m.NumDst() != c.n || !slices.Equal(m.Destinations(), c.want) || !slices.Equal(m.In().Cols, iota32(len(c.want))) {
			t.Errorf("membership of %v: %v, %v → %v", c.g, m, m.In().Cols, m.Destinations())
		}
	}
}

// TestEdgeMembership finds each edge in the member of its destination, of graphs
// that list their edges and of those that hold blocks.
func TestEdgeMembership(t *testing.T) {
	for _, g := range []*Graph{
		Batch(Ring(2, 1), Chains(), Chains(3, 1)).WithSelfLoops(), Chains(2, 0, 1), Ring(3, 1), Batch(), Must(New(0, nil, nil)),
		Batch(Complete(2), Causal(3), Band(4, 1)), Batch(CompleteBipartite(2, 3), CompleteBipartite(0, 2), CompleteBipartite(1, 1)),
	} {
		held := g.csr != nil
		m := g.EdgeMembership()
		if held != (g.csr != nil) {
			t.Errorf("%v: its edges were listed", g)
		}
		sound(t, m)
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

// BenchmarkBlock makes the block of all nodes of a graph of the size of arXiv's,
// and that of a thousand.
func BenchmarkBlock(b *testing.B) {
	g := Must(PowerLaw(rand.New(rand.NewPCG(1, 1)), 169_344, 1_169_344, 0.75))
	for name, seeds := range map[string][]int32{"all": iota32(g.NumNodes()), "1000": iota32(1000)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Must(g.Block(seeds))
			}
		})
	}
}

// TestSelfLoopsAllocate: adding loops copies the columns once, and says where edges
// come from only when it is asked; a graph of a list of edges, which is sorted,
// allocates more.
func TestSelfLoopsAllocate(t *testing.T) {
	const n, edges = 1 << 15, 1 << 18
	rng := rand.New(rand.NewPCG(1, 2))
	src, dst := make([]int32, edges), make([]int32, edges)
	for i := range src {
		src[i], dst[i] = rng.Int32N(n), rng.Int32N(n)
	}
	var g *Graph
	allocated := func(f func()) (bytes uint64) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	made := allocated(func() { g = Must(New(n, src, dst)) })
	looped := allocated(func() { g.WithSelfLoops() })
	if want := uint64(4*(edges+n) + 8*(n+1) + 4*n); looped > want+want/8 || looped > made {
		t.Errorf("WithSelfLoops allocates %d bytes, New %d; the columns, offsets and nodes are %d", looped, made, want)
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
		b := Must(g.BlockOf(seeds, allOffsets, all))
		same(t, b, Must(g.Block(seeds)))
		b = Must(g.BlockOf(seeds, offsets, some))
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
		{[]int32{1}, []int64{0}, nil, "offsets"},
		{[]int32{1}, []int64{0, 3}, []int32{2}, "offset"},
		{[]int32{1, 1}, []int64{0, 0, 0}, nil, "seed 1"},
		{[]int32{4}, []int64{0, 0}, nil, "seed 0"},
	} {
		if _, err := g.BlockOf(c.seeds, c.offsets, c.edges); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("BlockOf(%v, %v, %v): %v, want %q", c.seeds, c.offsets, c.edges, err, c.want)
		}
	}
}
