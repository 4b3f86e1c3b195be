package graph

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestNew(t *testing.T) {
	for seed := range uint64(300) {
		l := graphtest.RandomEdges(rand.New(rand.NewPCG(seed, 2)), seed%2 == 1)
		g, err := NewBipartite(l.NSrc, l.NDst, l.Src, l.Dst)
		if seed%2 == 0 {
			g, err = New(l.NSrc, l.Src, l.Dst)
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if g.Bipartite() != (seed%2 == 1) || g.NumSrc() != l.NSrc || g.NumDst() != l.NDst || g.NumEdges() != len(l.Src) {
			t.Fatalf("seed %d: %v of %d × %d with %d edges", seed, g, l.NSrc, l.NDst, len(l.Src))
		}
		graphtest.Sound(t, g)
		for e, i := range g.EdgeOrder() {
			if g.In().Cols[e] != l.Src[i] || g.Destinations()[e] != l.Dst[i] {
				t.Fatalf("seed %d: edge %d is not entry %d of the list", seed, e, i)
			}
		}
		if o := g.From(); o.Edges != nil || o.Src != nil || o.Dst != nil {
			t.Fatalf("seed %d: a graph of a list has an Origin: %v", seed, o)
		}
	}
}

func TestNewCopies(t *testing.T) {
	src, dst := []int32{0, 1}, []int32{1, 0}
	g := Must(New(2, src, dst))
	src[0], dst[0] = 7, 7
	if !slices.Equal(g.In().Cols, []int32{1, 0}) || !slices.Equal(g.Destinations(), []int32{0, 1}) {
		t.Error("the graph changed with the caller's list:", g.In().Cols, g.Destinations())
	}
}

func TestNewErrors(t *testing.T) {
	for _, c := range []struct {
		n        int
		src, dst []int32
		want     string
	}{
		{3, []int32{0, 1, 3}, []int32{1, 2, 0}, "graph: edge 2 of 3, 3 → 0: the source is not in 0..2"},
		{3, []int32{0, 1}, []int32{-1, 2}, "graph: edge 0 of 2, 0 → -1: the destination is not in 0..2"},
		{0, []int32{0}, []int32{0}, "graph: edge 0 of 1, 0 → 0: the source is not in an empty range"},
	} {
		if g, err := New(c.n, c.src, c.dst); g != nil || err == nil || err.Error() != c.want {
			t.Errorf("New(%d, %v, %v) = %v, %v; want %q", c.n, c.src, c.dst, g, err, c.want)
		}
	}
	if _, err := NewBipartite(2, 1, []int32{1, 1}, []int32{0, 1}); err == nil || !strings.Contains(err.Error(), "edge 1 of 2, 1 → 1: the destination is not in 0..0") {
		t.Error("NewBipartite:", err)
	}
	if huge := math.MaxInt; huge > math.MaxInt32 { // an int of 32 bits holds no such number
		huge = math.MaxInt32
		huge++
		if _, err := New(huge, nil, nil); err == nil || err.Error() != "graph: too many source nodes: 2147483648, at most 2147483647" {
			t.Error("2³¹ nodes:", err)
		}
		if err := mistake.Counts(1, 1, huge); err == nil || !strings.Contains(err.Error(), "too many edges") {
			t.Error("2³¹ edges:", err)
		}
	}
	for _, c := range []struct {
		op string
		f  func() (*Graph, error)
	}{
		{"graph.New", func() (*Graph, error) { return New(2, []int32{0, 1}, []int32{1}) }},
		{"graph.New", func() (*Graph, error) { return New(-1, nil, nil) }},
		{"graph.NewBipartite", func() (*Graph, error) { return NewBipartite(1, -1, nil, nil) }},
		{"graph.NewCompact", func() (*Graph, error) {
			g, _, err := NewCompact([]string{"a"}, nil)
			return g, err
		}},
	} {
		graphtest.Refuses(t, c.op, func() { c.f() })
	}
	defer func() {
		if recover() == nil {
			t.Error("Must did not panic")
		}
	}()
	Must(New(3, []int32{3}, []int32{0}))
}

func TestFromCSR(t *testing.T) {
	g := Must(FromCSR(&sparse.CSR{Offsets: []int64{0, 2, 3}, Cols: []int32{2, 0, 1}, NumRows: 2, NumCols: 3}))
	graphtest.Sound(t, g)
	if !g.Bipartite() || g.NumSrc() != 3 || g.NumDst() != 2 || !slices.Equal(g.EdgeOrder(), []int32{0, 1, 2}) {
		t.Error("2×3:", g, g.EdgeOrder())
	}
	if Must(FromCSR(&sparse.CSR{Offsets: []int64{0}})).Bipartite() {
		t.Error("a square matrix gave a bipartite graph")
	}
	for want, in := range map[string]*sparse.CSR{
		"nonzero 1, in row 1: column 2 is not in 0..1": {Offsets: []int64{0, 1, 2}, Cols: []int32{1, 2}, NumRows: 2, NumCols: 2},
		"row 1 ends at nonzero 0, before its start 1":  {Offsets: []int64{0, 1, 0}, Cols: []int32{1}, NumRows: 2, NumCols: 2},
		"2 offsets for 2 rows, want 3":                 {Offsets: []int64{0, 1}, Cols: []int32{1}, NumRows: 2, NumCols: 2},
		"offset 0 is 1, want 0":                        {Offsets: []int64{1, 1}, Cols: []int32{0}, NumRows: 1, NumCols: 1},
		"the last offset is 5, want 1":                 {Offsets: []int64{0, 5}, Cols: []int32{0}, NumRows: 1, NumCols: 1},
		"a matrix of -1 rows":                          {Offsets: nil, NumRows: -1},
	} {
		if g, err := FromCSR(in); g != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("FromCSR: %v, %v; want %q", g, err, want)
		}
	}
}

// Bags are bipartite, also where there are as many of both; the lists are their own.
func TestBags(t *testing.T) {
	src := []int32{2, 0, 2, 1}
	g := Must(Bags(3, []int64{0, 2, 2, 4}, src))
	graphtest.Sound(t, g)
	same := Must(NewBipartite(3, 3, src, []int32{0, 0, 2, 2}))
	if !g.Bipartite() || !slices.Equal(g.In().Offsets, same.In().Offsets) || !slices.Equal(g.In().Cols, same.In().Cols) || !slices.Equal(g.EdgeOrder(), same.EdgeOrder()) {
		t.Errorf("%v with the edges %v, want %v with %v", g, g.In(), same, same.In())
	}
	if &g.In().Cols[0] != &src[0] {
		t.Error("the sources are copied")
	}
	for want, f := range map[string]func() (*Graph, error){
		"0 offsets for 0 rows, want 1": func() (*Graph, error) { return Bags(3, nil, nil) },
		"column 3 is not in 0..2":      func() (*Graph, error) { return Bags(3, []int64{0, 1}, []int32{3}) },
		"the last offset is 1, want 2": func() (*Graph, error) { return Bags(3, []int64{0, 1}, []int32{1, 1}) },
	} {
		if g, err := f(); g != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Bags: %v, %v; want %q", g, err, want)
		}
	}
	graphtest.Refuses(t, "graph.Bags", func() { Bags(-1, []int64{0}, nil) })
}

func FuzzNew(f *testing.F) {
	f.Add(3, 3, []byte{0, 1, 1, 2})
	f.Add(0, 0, []byte{})
	f.Add(-1, 2, []byte{0, 0})
	f.Add(2, 5, []byte{1, 4, 255, 0})
	f.Fuzz(func(t *testing.T, nSrc, nDst int, data []byte) {
		nSrc, nDst = nSrc%300, nDst%300 // sizes alone must not exhaust the memory
		var l graphtest.Edges
		good := nSrc >= 0 && nDst >= 0
		for i := 0; i+1 < len(data); i += 2 {
			u, v := int32(data[i])-1, int32(data[i+1])-1
			l.Src, l.Dst = append(l.Src, u), append(l.Dst, v)
			good = good && u >= 0 && v >= 0 && int(u) < nSrc && int(v) < nDst
		}
		var g *Graph
		err := tensor.Try(func() {
			h, err := NewBipartite(nSrc, nDst, l.Src, l.Dst)
			if g = h; err != nil {
				panic(&tensor.ShapeError{Why: err.Error()})
			}
		})
		if (err == nil) != good {
			t.Fatalf("error %v, good %v", err, good)
		}
		if good {
			graphtest.Sound(t, g)
			graphtest.Same(t, Reverse(Reverse(g)), g)
		}
	})
}

// BenchmarkNew builds a graph of the size of Cora.
func BenchmarkNew(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	src, dst := make([]int32, 10556), make([]int32, 10556)
	for i := range src {
		src[i], dst[i] = int32(rng.IntN(2708)), int32(rng.IntN(2708))
	}
	b.ReportAllocs()
	for b.Loop() {
		Must(New(2708, src, dst))
	}
}

func TestCompact(t *testing.T) {
	g, ids, err := NewCompact([]int64{7, -3, 1 << 40}, []int64{-3, 1 << 40, 7})
	if err != nil || !slices.Equal(ids, []int64{-3, 7, 1 << 40}) {
		t.Fatal(ids, err)
	}
	graphtest.Same(t, g, Must(New(3, []int32{1, 0, 2}, []int32{0, 2, 1})))
	names, numbers, err := Compact([]string{"b", "a"}, nil, []string{"c", "b", "b"})
	if err != nil || !slices.Equal(names, []string{"a", "b", "c"}) || !slices.Equal(numbers[0], []int32{1, 0}) || len(numbers[1]) != 0 || !slices.Equal(numbers[2], []int32{2, 1, 1}) {
		t.Error(names, numbers, err)
	}
	if g, ids, err := NewCompact[int](nil, nil); err != nil || len(ids) != 0 || g.NumNodes() != 0 {
		t.Error("no edges:", g, ids, err)
	}
}

func FuzzCompact(f *testing.F) {
	f.Add([]byte{}, 0)
	f.Add([]byte("abcdefghijklmnopqrstuvwxyz"), 1)
	f.Add(make([]byte, 64), 3)
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		var ids []int16
		for i := 0; i+1 < len(data); i += 2 {
			ids = append(ids, int16(binary.LittleEndian.Uint16(data[i:])))
		}
		cut = max(0, min(cut, len(ids)))
		kept := slices.Clone(ids)
		names, numbers, err := Compact(ids[:cut], ids[cut:])
		if err != nil || !slices.Equal(ids, kept) {
			t.Fatal("error, or the lists changed:", err)
		}
		used := make([]bool, len(names))
		for k, list := range [][]int16{ids[:cut], ids[cut:]} {
			for i, id := range list {
				if names[numbers[k][i]] != id {
					t.Fatalf("id %d of list %d is %d, numbered as %d", i, k, id, names[numbers[k][i]])
				}
				used[numbers[k][i]] = true
			}
		}
		for n := range names {
			if !used[n] || n > 0 && names[n] <= names[n-1] {
				t.Fatalf("names %v, used %v", names, used)
			}
		}
	})
}

// A list whose destinations ascend makes the graph that another order of it makes, and stands
// for itself: it is copied, and edge e is number e of it.
func TestListInOrder(t *testing.T) {
	src, dst := []int32{2, 0, 2, 1, 0}, []int32{0, 0, 2, 2, 4}
	g := Must(NewBipartite(3, 6, src, dst))
	turned := Must(NewBipartite(3, 6, []int32{0, 2, 1, 2, 0}, []int32{4, 2, 2, 0, 0}))
	if !slices.Equal(g.EdgeOrder(), []int32{0, 1, 2, 3, 4}) || !slices.Equal(turned.EdgeOrder(), []int32{3, 4, 1, 2, 0}) {
		t.Errorf("the edges stand at %v and %v of the lists", g.EdgeOrder(), turned.EdgeOrder())
	}
	src[0], dst[0] = 1, 5
	for _, h := range []*Graph{g, turned} {
		if !slices.Equal(h.In().Cols, []int32{2, 0, 2, 1, 0}) || !slices.Equal(h.In().Offsets, []int64{0, 2, 2, 4, 4, 5, 5}) || !h.Bipartite() {
			t.Errorf("the sources are %v, from %v on", h.In().Cols, h.In().Offsets)
		}
	}
	none := Must(New(2, nil, nil))
	if none.NumEdges() != 0 || len(none.In().Offsets) != 3 || none.EdgeOrder() == nil {
		t.Errorf("without edges the offsets are %v and the order %v", none.In().Offsets, none.EdgeOrder())
	}
}

// Graphs with nothing in them go through everything.
func TestEmptyGraphs(t *testing.T) {
	for _, g := range []*Graph{
		Must(New(0, nil, nil)), Must(New(1, nil, nil)), Must(New(4, nil, nil)), Complete(0), Complete(1), Chains(), Chains(0), Batch(),
		Star(0), Grid(0, 3), Batch(Complete(0), Complete(0)), Must(New(1, []int32{0}, []int32{0})),
	} {
		name := fmt.Sprint(g)
		c, counts, into := Coalesce(g)
		for _, h := range []*Graph{
			Reverse(g), WithSelfLoops(g), WithoutSelfLoops(g), Undirected(g), c, Must(Subgraph(g, nil)), Must(EdgeSubgraph(g, nil)),
			Must(Neighbourhood(g, nil, 3)), Must(Permute(g, g.nodes())), Must(LineGraph(g)), Must(Block(g, nil)), Must(Dst(g, nil)),
			Batch(g, g), Membership(g), Must(WithKinds(g, make([]int32, g.NumEdges()))),
		} {
			graphtest.Sound(t, h)
		}
		for _, m := range Unbatch(g) {
			graphtest.Sound(t, m)
		}
		if len(counts) != c.NumEdges() || len(into) != g.NumEdges() {
			t.Errorf("%s: counts %v, into %v", name, counts, into)
		}
	}
}
