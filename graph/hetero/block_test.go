package hetero

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

// randomHetero returns nodes of four types, one of which has few nodes or none, and relations, one
// of which has no edges.
func randomHetero(rng *rand.Rand) *Graph {
	n := map[string]int{"author": 1 + rng.IntN(9), "paper": 1 + rng.IntN(12), "venue": rng.IntN(3), "void": 0}
	relations := map[Rel]*graph.Graph{}
	for _, r := range []Rel{{"author", "likes", "paper"}, {"author", "writes", "paper"}, {"paper", "by", "author"}, {"paper", "cites", "paper"},
		{"paper", "at", "venue"}, {"venue", "of", "paper"}, {"venue", "near", "venue"}, {"void", "fills", "paper"}} {
		var src, dst []int32
		if n[r.Src] > 0 && n[r.Dst] > 0 && r.Name != "likes" {
			for range rng.IntN(30) {
				src, dst = append(src, rng.Int32N(int32(n[r.Src]))), append(dst, rng.Int32N(int32(n[r.Dst])))
			}
		}
		if relations[r] = graph.Must(graph.NewBipartite(n[r.Src], n[r.Dst], src, dst)); r.Name == "cites" {
			relations[r] = graph.Must(graph.New(n["paper"], src, dst))
		}
	}
	h, err := New(n, relations)
	if err != nil {
		panic(err)
	}
	return h
}

// randomBlock returns a block of some of g's nodes: of all their in-edges, or of some, of which some
// are there twice.
func randomBlock(rng *rand.Rand, g *graph.Graph) *graph.Graph {
	seeds := graphtest.RandomRows(rng, g.NumNodes())
	if rng.IntN(2) == 0 {
		return graph.Must(graph.Block(g, seeds))
	}
	offsets, drawn := []int64{0}, []int32{}
	for _, v := range seeds {
		for e := g.In().Offsets[v]; e < g.In().Offsets[v+1]; e++ {
			for range rng.IntN(3) {
				drawn = append(drawn, int32(e))
			}
		}
		offsets = append(offsets, int64(len(drawn)))
	}
	return graph.Must(graph.BlockOf(g, seeds, offsets, drawn))
}

// A split block has each edge once, in the graph of its relation, in b's order and between the nodes that
// it was between; and the first nodes of a type are the destinations.
func TestHeteroSplit(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 11))
		h := randomHetero(rng)
		g, ends := Homogeneous(h)
		b := randomBlock(rng, g)
		part, rows, err := Split(h, b)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if !slices.Equal(part.Types(), h.Types()) || !slices.Equal(part.Rels(), h.Rels()) {
			t.Fatalf("seed %d: types %v, relations %v", seed, part.Types(), part.Rels())
		}
		typed := 0
		for k, name := range h.Types() {
			var want []int32
			dst := 0
			for i, v := range b.From().Src {
				if ends[k] <= int(v) && int(v) < ends[k+1] {
					if want = append(want, int32(i)); i < b.NumDst() {
						dst++
					}
				}
			}
			if !slices.Equal(rows[name], want) || part.NumNodes(name) != len(want) || part.NumDst(name) != dst {
				t.Fatalf("seed %d: %s has sources %v, %d nodes and %d destinations, want %v and %d", seed, name, rows[name], part.NumNodes(name), part.NumDst(name), want, dst)
			}
			typed += len(want)
		}
		seen := make([]bool, b.NumEdges())
		for k, r := range h.Rels() {
			splitRelation(t, part.Graph(r), b, rows[r.Src], rows[r.Dst], int32(k), seen)
			if one := r.Src == r.Dst; (part.Graph(r).DstRows() != nil) != one || part.NumDst(r.Dst) != part.Graph(r).NumDst() {
				t.Fatalf("seed %d: %v has destinations that are sources %v", seed, r, part.Graph(r).DstRows())
			}
		}
		if i := slices.Index(seen, false); typed != b.NumSrc() || i >= 0 {
			t.Fatalf("seed %d: %d of %d nodes, edge %d is nowhere", seed, typed, b.NumSrc(), i)
		}
	}
}

// splitRelation checks the graph of relation k, of b, and marks its edges.
func splitRelation(t *testing.T, g, b *graph.Graph, src, dst []int32, k int32, seen []bool) {
	t.Helper()
	graphtest.Sound(t, g)
	from := g.From()
	if !g.Bipartite() || !slices.Equal(from.Src, src) || !slices.Equal(from.Dst, dst[:g.NumDst()]) || !slices.IsSorted(g.EdgeOrder()) || len(from.Edges) != g.NumEdges() {
		t.Fatalf("%v from %v", g, from)
	}
	for i, u := range g.DstRows() {
		if int(u) != i {
			t.Fatalf("destination %d is source %d", i, u)
		}
	}
	for e, p := range from.Edges {
		u, v := g.In().Cols[e], g.Destinations()[e]
		if seen[p] || b.Kinds()[p] != k || b.In().Cols[p] != src[u] || b.Destinations()[p] != dst[v] {
			t.Fatalf("edge %d, %d → %d, is edge %d of the block, which was there before: %v", e, u, v, p, seen[p])
		}
		if seen[p] = true; e > 0 && p <= from.Edges[e-1] {
			t.Fatalf("edges do not keep the block's order: %v", from.Edges)
		}
	}
}

// Features of edges go from the relations to the whole graph, to its block and back to the relations.
func TestHeteroSplitEdgeFeatures(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 12))
		h := randomHetero(rng)
		g, ends := Homogeneous(h)
		var list []string // of the relations, one after the other
		name := func(r Rel, u, v int32) string { return fmt.Sprint(r, u, v) }
		for _, r := range h.Rels() {
			for e, v := range h.Graph(r).Destinations() {
				list = append(list, name(r, h.Graph(r).In().Cols[e], v))
			}
		}
		b := randomBlock(rng, g)
		part, rows, err := Split(h, b)
		if err != nil {
			t.Fatal(err)
		}
		number := func(of string, i int32) int32 { return b.From().Src[rows[of][i]] - int32(ends[h.place(of)]) }
		for _, r := range part.Rels() {
			p := part.Graph(r)
			for e, v := range p.Destinations() {
				got := list[g.EdgeOrder()[b.From().Edges[p.From().Edges[e]]]]
				if want := name(r, number(r.Src, p.In().Cols[e]), number(r.Dst, v)); got != want {
					t.Fatalf("seed %d: edge %d of %v has what belongs to %s, want %s", seed, e, r, got, want)
				}
			}
		}
	}
}

// A block of a large graph is split without touching the rest of it.
func TestHeteroSplitIsLocal(t *testing.T) {
	const n = 1 << 18
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	cites := Rel{"paper", "cites", "paper"}
	h, err := New(map[string]int{"author": n, "paper": n}, map[Rel]*graph.Graph{
		{"author", "writes", "paper"}: graph.Must(graph.NewBipartite(n, n, all, all)), cites: graph.Must(graph.NewBipartite(n, n, []int32{1}, []int32{2})),
	})
	if err != nil {
		t.Fatal(err)
	}
	g, _ := Homogeneous(h)
	if again, _ := Homogeneous(h); again != g {
		t.Error("the homogeneous graph is made twice")
	}
	b := graph.Must(graph.Block(g, []int32{n + 2, n + 7}))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	part, _, err := Split(h, b)
	runtime.ReadMemStats(&after)
	if err != nil || part.NumNodes("author") != 2 || part.NumNodes("paper") != 3 || part.NumDst("author") != 0 || part.NumDst("paper") != 2 || part.Graph(cites).NumEdges() != 1 {
		t.Fatalf("%v: %d authors, %d papers", err, part.NumNodes("author"), part.NumNodes("paper"))
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > n/8 { // a bit for each author
		t.Errorf("splitting a block of five nodes allocates %d bytes", bytes)
	}
}

func TestHeteroBlock(t *testing.T) {
	cites, writes := Rel{"paper", "cites", "paper"}, Rel{"author", "writes", "paper"}
	dst := map[string]int{"paper": 2}
	h, err := NewBlock(map[string]int{"paper": 3, "author": 2}, dst, map[Rel]*graph.Graph{
		cites: graph.Must(graph.NewBipartite(3, 2, []int32{2, 0}, []int32{0, 1})), writes: graph.Must(graph.NewBipartite(2, 2, nil, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	dst["paper"] = 99 // the caller's map is not ours
	if h.NumNodes("paper") != 3 || h.NumDst("paper") != 2 || h.NumNodes("author") != 2 || h.NumDst("author") != 0 || h.NumDst("editor") != 0 {
		t.Errorf("%d of %d papers, %d of %d authors", h.NumDst("paper"), h.NumNodes("paper"), h.NumDst("author"), h.NumNodes("author"))
	}
	graphtest.Refuses(t, "hetero.Homogeneous", func() { Homogeneous(h) })
	graphtest.Refuses(t, "hetero.Split", func() { Split(h, h.Graph(cites)) })
	if h, err := NewBlock(map[string]int{"paper": 3}, nil, nil); err != nil || h.NumDst("paper") != 0 {
		t.Error("a block without destinations:", err)
	}
	whole, err := New(map[string]int{"paper": 3}, nil)
	if err != nil || whole.NumDst("paper") != 3 || whole.NumDst("editor") != 0 {
		t.Error("of a graph that is no block:", err, whole.NumDst("paper"))
	}
}

func TestHeteroBlockErrors(t *testing.T) {
	src, rel := map[string]int{"paper": 3, "author": 3}, Rel{"paper", "cites", "paper"}
	for want, c := range map[string]struct {
		dst       map[string]int
		relations map[Rel]*graph.Graph
	}{
		`panic: hetero.NewBlock: node type "paper": 4 destinations, but 3 nodes; destinations are the first of the nodes`:           {map[string]int{"paper": 4}, nil},
		`error: hetero: there are 1 destinations of type "venue", but no node type of that name, only ["author" "paper"]`:           {map[string]int{"venue": 1}, nil},
		`panic: hetero.NewBlock: the number of destinations of type "paper" is negative`:                                            {map[string]int{"paper": -1}, nil},
		`panic: hetero.NewBlock: relation paper -cites-> paper: its graph has 2 source nodes, but there are 3 of type "paper"`:      {nil, map[Rel]*graph.Graph{rel: graph.Must(graph.NewBipartite(2, 0, nil, nil))}},
		`panic: hetero.NewBlock: relation paper -cites-> paper: its graph has 3 destination nodes, but there are 2 of type "paper"`: {map[string]int{"paper": 2}, map[Rel]*graph.Graph{rel: graph.Must(graph.NewBipartite(3, 3, nil, nil))}},
		`panic: hetero.NewBlock: relation paper -cites-> paper: its graph is homogeneous, want one made by graph.NewBipartite`:      {map[string]int{"paper": 3}, map[Rel]*graph.Graph{rel: graph.Must(graph.New(3, nil, nil))}},
		`panic: hetero.NewBlock: relation paper -cites-> paper: its graph is nil`:                                                   {nil, map[Rel]*graph.Graph{rel: nil}},
		`error: hetero: relation paper -at-> venue: there is no node type "venue", only ["author" "paper"]`:                         {nil, map[Rel]*graph.Graph{{"paper", "at", "venue"}: graph.Must(graph.NewBipartite(3, 0, nil, nil))}},
	} {
		if said := withoutShape(graphtest.Mistake(func() error { _, err := NewBlock(src, c.dst, c.relations); return err })); said != want {
			t.Errorf("%s, want %s", said, want)
		}
	}
}

func TestHeteroSplitErrors(t *testing.T) {
	h, err := New(map[string]int{"author": 2, "paper": 3}, map[Rel]*graph.Graph{
		{"author", "writes", "paper"}: graph.Must(graph.NewBipartite(2, 3, []int32{0, 1, 1}, []int32{2, 0, 1})),
		{"paper", "cites", "paper"}:   graph.Must(graph.New(3, []int32{0, 1}, []int32{1, 2})),
	})
	if err != nil {
		t.Fatal(err)
	}
	g, _ := Homogeneous(h)
	plain := graph.Must(graph.New(5, []int32{0}, []int32{4}))
	for want, b := range map[string]*graph.Graph{
		"panic: hetero.Split: the block to split is nil":                                                   nil,
		"panic: hetero.Split: Graph(5 nodes, 5 edges) is no block; make it by":                             g,
		"panic: hetero.Split: Graph(2 → 2 nodes, 1 edges) is no block":                                     graph.Must(graph.NewBipartite(2, 2, []int32{0}, []int32{1})),
		"panic: hetero.Split: destination 0 is source 4, want the destinations":                            graph.Must(graph.Dst(g, []int32{4})),
		"panic: hetero.Split: the 1 edges of the block have no kinds":                                      graph.Must(graph.Block(plain, []int32{4})),
		"error: hetero: source 0 of the block is node 7, not in 0..4":                                      graph.Must(graph.Block(graph.Must(graph.New(8, nil, nil)), []int32{7})),
		"error: hetero: edge 0 of the block has kind 2, and there are 2 rel":                               graph.Must(graph.Block(graph.Must(graph.WithKinds(plain, []int32{2})), []int32{4})),
		`error: hetero: edge 0 of the block leads from a node of type "author" to one of type "paper", bu`: graph.Must(graph.Block(graph.Must(graph.WithKinds(plain, []int32{1})), []int32{4})),
		`error: hetero: edge 0 of the block leads from a node of type "author" to one of type "author", b`: graph.Must(graph.Block(graph.Must(graph.WithKinds(graph.Must(graph.New(5, []int32{1}, []int32{0})), []int32{0})), []int32{0})),
	} {
		if said := withoutShape(graphtest.Mistake(func() error { _, _, err := Split(h, b); return err })); !strings.HasPrefix(said, want) {
			t.Errorf("%s, want %s", said, want)
		}
	}
	empty := new(Graph)
	none, _ := Homogeneous(empty)
	if part, rows, err := Split(empty, graph.Must(graph.Block(none, nil))); err != nil || len(part.Types()) != 0 || len(rows) != 0 {
		t.Errorf("nothing at all: %v, %v, %v", part, rows, err)
	}
}
