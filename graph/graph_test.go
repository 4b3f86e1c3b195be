package graph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// edges is a caller's list of a test.
type edges struct {
	nSrc, nDst int
	src, dst   []int32
}

// randomEdges returns a small list with loops, parallel edges, isolated nodes
// and, now and then, a hub or nothing at all.
func randomEdges(rng *rand.Rand, bipartite bool) edges {
	l := edges{nSrc: rng.IntN(12)}
	l.nDst = l.nSrc
	if bipartite {
		l.nDst = rng.IntN(12)
	}
	if l.nSrc == 0 || l.nDst == 0 {
		return l
	}
	hub := rng.IntN(3) == 0
	for range rng.IntN(30) {
		u, v := int32(rng.IntN(l.nSrc)), int32(rng.IntN(l.nDst))
		if hub && rng.IntN(2) == 0 {
			v = 0
		}
		l.src, l.dst = append(l.src, u), append(l.dst, v)
		if rng.IntN(6) == 0 {
			l.src, l.dst = append(l.src, u), append(l.dst, v)
		}
	}
	return l
}

// randomKinds returns a kind for each of n edges.
func randomKinds(rng *rand.Rand, n int) []int32 {
	kinds := make([]int32, n)
	for i := range kinds {
		kinds[i] = int32(rng.IntN(4))
	}
	return kinds
}

// each runs a property on random homogeneous graphs with kinds.
func each(t *testing.T, f func(t *testing.T, rng *rand.Rand, g *Graph)) {
	t.Helper()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		l := randomEdges(rng, false)
		g := Must(New(l.nSrc, l.src, l.dst))
		if seed%3 > 0 {
			g = Must(g.WithKinds(randomKinds(rng, g.NumEdges())))
		}
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { f(t, rng, g) })
		if t.Failed() {
			return
		}
	}
}

// sound checks what is true of every graph.
func sound(t *testing.T, g *Graph) {
	t.Helper()
	in, e := g.In(), 0
	if in.Values != nil || in.NumRows != g.NumDst() || in.NumCols != g.NumSrc() || len(in.Offsets) != g.NumDst()+1 {
		t.Fatalf("In is %v with %d offsets and values %v, for %v", in.Shape(), len(in.Offsets), in.Values, g)
	}
	if sorted := slices.Sorted(slices.Values(g.EdgeOrder())); g.EdgeOrder() == nil || !slices.Equal(sorted, iota32(g.NumEdges())) {
		t.Fatalf("EdgeOrder is no permutation: %v", g.EdgeOrder())
	}
	outDegree := make([]int, g.NumSrc())
	for v := range g.NumDst() {
		if in.Offsets[v] != int64(e) {
			t.Fatalf("row %d starts at %d, want %d", v, in.Offsets[v], e)
		}
		for k := range g.InDegree(v) {
			if g.Destinations()[e] != int32(v) {
				t.Fatalf("destination of edge %d is %d, want %d", e, g.Destinations()[e], v)
			}
			if k > 0 && g.EdgeOrder()[e] < g.EdgeOrder()[e-1] {
				t.Fatalf("row %d is not in the list's order: %v", v, g.EdgeOrder())
			}
			outDegree[in.Cols[e]]++
			e++
		}
	}
	if e != g.NumEdges() {
		t.Fatalf("rows hold %d edges of %d", e, g.NumEdges())
	}
	if g.Kinds() != nil && len(g.Kinds()) != g.NumEdges() {
		t.Fatalf("%d kinds for %d edges", len(g.Kinds()), g.NumEdges())
	}
	soundOut(t, g, outDegree)
}

// soundOut checks the edges by source.
func soundOut(t *testing.T, g *Graph, outDegree []int) {
	t.Helper()
	out, edge := g.Out()
	if out.NumRows != g.NumSrc() || out.NumCols != g.NumDst() || len(edge) != g.NumEdges() {
		t.Fatalf("Out is %v with %d edges, for %v", out.Shape(), len(edge), g)
	}
	for u := range g.NumSrc() {
		if g.OutDegree(u) != outDegree[u] {
			t.Fatalf("OutDegree(%d) = %d, want %d", u, g.OutDegree(u), outDegree[u])
		}
		for k := out.Offsets[u]; k < out.Offsets[u+1]; k++ {
			if g.In().Cols[edge[k]] != int32(u) || g.Destinations()[edge[k]] != out.Cols[k] {
				t.Fatalf("nonzero %d of Out is not edge %d", k, edge[k])
			}
			if k > out.Offsets[u] && edge[k] <= edge[k-1] {
				t.Fatalf("edges of source %d do not ascend: %v", u, edge)
			}
		}
	}
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

// same checks that two graphs have the same edges under the same numbers.
func same(t *testing.T, got, want *Graph) {
	t.Helper()
	if got.NumSrc() != want.NumSrc() || got.Bipartite() != want.Bipartite() || !slices.Equal(got.In().Offsets, want.In().Offsets) ||
		!slices.Equal(got.In().Cols, want.In().Cols) || !slices.Equal(got.EdgeOrder(), want.EdgeOrder()) || !slices.Equal(got.Kinds(), want.Kinds()) {
		t.Fatalf("graphs differ: %v %v %v %v, want %v %v %v %v", got.In().Offsets, got.In().Cols, got.EdgeOrder(), got.Kinds(),
			want.In().Offsets, want.In().Cols, want.EdgeOrder(), want.Kinds())
	}
}

// refuses checks that f panics with a ShapeError of op.
func refuses(t *testing.T, op string, f func()) {
	t.Helper()
	if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), op+":") {
		t.Errorf("%s: error %v", op, err)
	}
}

func TestNew(t *testing.T) {
	for seed := range uint64(300) {
		l := randomEdges(rand.New(rand.NewPCG(seed, 2)), seed%2 == 1)
		g, err := NewBipartite(l.nSrc, l.nDst, l.src, l.dst)
		if seed%2 == 0 {
			g, err = New(l.nSrc, l.src, l.dst)
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if g.Bipartite() != (seed%2 == 1) || g.NumSrc() != l.nSrc || g.NumDst() != l.nDst || g.NumEdges() != len(l.src) {
			t.Fatalf("seed %d: %v of %d × %d with %d edges", seed, g, l.nSrc, l.nDst, len(l.src))
		}
		sound(t, g)
		for e, i := range g.EdgeOrder() {
			if g.In().Cols[e] != l.src[i] || g.Destinations()[e] != l.dst[i] {
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
		{2, []int32{0, 1}, []int32{1}, "graph: 2 sources for 1 destinations, want one of each an edge"},
		{-1, nil, nil, "graph: the number of source nodes is negative: -1"},
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
		if err := checkCounts(1, 1, huge); err == nil || !strings.Contains(err.Error(), "too many edges") {
			t.Error("2³¹ edges:", err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("Must did not panic")
		}
	}()
	Must(New(-1, nil, nil))
}

func TestFromCSR(t *testing.T) {
	g := Must(FromCSR(&sparse.CSR{Offsets: []int64{0, 2, 3}, Cols: []int32{2, 0, 1}, NumRows: 2, NumCols: 3}))
	sound(t, g)
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
		"destination nodes is negative":                {Offsets: nil, NumRows: -1},
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
	sound(t, g)
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
		"source nodes is negative":     func() (*Graph, error) { return Bags(-1, []int64{0}, nil) },
	} {
		if g, err := f(); g != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Bags: %v, %v; want %q", g, err, want)
		}
	}
}

func TestBipartiteRefuses(t *testing.T) {
	g := Must(NewBipartite(2, 2, []int32{0}, []int32{1}))
	for op, f := range map[string]func(){
		"graph.NumNodes": func() { g.NumNodes() }, "graph.WithSelfLoops": func() { g.WithSelfLoops() },
		"graph.WithoutSelfLoops": func() { g.WithoutSelfLoops() }, "graph.Roots": func() { g.Roots() }, "graph.Sinks": func() { g.Sinks() },
		"graph.Levels": func() { g.Levels() }, "graph.NodeOffsets": func() { g.NodeOffsets() }, "graph.Membership": func() { g.Membership() },
		"graph.Gonum": func() { g.Gonum() }, "graph.Block": func() { g.Block(nil) }, "graph.Blocks": func() { g.Blocks(nil, 1) },
	} {
		refuses(t, op, f)
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
			Must(blocks.Block([]int32{int32(i), 20}))
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
	h := Must(g.WithKinds([]int32{5, 6, 7}))
	if !slices.Equal(h.Kinds(), []int32{7, 6, 5}) || g.Kinds() != nil {
		t.Error("kinds by edge:", h.Kinds(), g.Kinds())
	}
	for want, kinds := range map[string][]int32{
		"edge 1 of 3 has kind -1, want 0 to": {0, -1, 2}, "2 kinds for 3 edges": {0, 1}, "edge 2 of 3 has kind 2147483647": {0, 0, math.MaxInt32},
	} {
		if h, err := g.WithKinds(kinds); h != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("WithKinds(%v) = %v, %v", kinds, h, err)
		}
	}
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

func FuzzNew(f *testing.F) {
	f.Add(3, 3, []byte{0, 1, 1, 2})
	f.Add(0, 0, []byte{})
	f.Add(-1, 2, []byte{0, 0})
	f.Add(2, 5, []byte{1, 4, 255, 0})
	f.Fuzz(func(t *testing.T, nSrc, nDst int, data []byte) {
		nSrc, nDst = nSrc%300, nDst%300 // sizes alone must not exhaust the memory
		var l edges
		good := nSrc >= 0 && nDst >= 0
		for i := 0; i+1 < len(data); i += 2 {
			u, v := int32(data[i])-1, int32(data[i+1])-1
			l.src, l.dst = append(l.src, u), append(l.dst, v)
			good = good && u >= 0 && v >= 0 && int(u) < nSrc && int(v) < nDst
		}
		g, err := NewBipartite(nSrc, nDst, l.src, l.dst)
		if (err == nil) != good {
			t.Fatalf("error %v, good %v", err, good)
		}
		if good {
			sound(t, g)
			same(t, g.Reverse().Reverse(), g)
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
