package graphtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Graph is what a graph says of itself.
type Graph interface {
	NumSrc() int
	NumDst() int
	NumEdges() int
	Bipartite() bool
	In() *sparse.CSR
	Out() (*sparse.CSR, []int32)
	InDegree(v int) int
	OutDegree(u int) int
	Destinations() []int32
	EdgeOrder() []int32
	Kinds() []int32
}

// Edges is a caller's list of edges.
type Edges struct {
	NSrc, NDst int
	Src, Dst   []int32
	Kinds      []int32 // nil: none
}

// RandomEdges returns a small list with loops, parallel edges, isolated nodes
// and, now and then, a hub or nothing at all.
func RandomEdges(rng *rand.Rand, bipartite bool) Edges {
	l := Edges{NSrc: rng.IntN(12)}
	l.NDst = l.NSrc
	if bipartite {
		l.NDst = rng.IntN(12)
	}
	if l.NSrc == 0 || l.NDst == 0 {
		return l
	}
	hub := rng.IntN(3) == 0
	for range rng.IntN(30) {
		u, v := int32(rng.IntN(l.NSrc)), int32(rng.IntN(l.NDst))
		if hub && rng.IntN(2) == 0 {
			v = 0
		}
		l.Src, l.Dst = append(l.Src, u), append(l.Dst, v)
		if rng.IntN(6) == 0 {
			l.Src, l.Dst = append(l.Src, u), append(l.Dst, v)
		}
	}
	return l
}

// RandomKinds returns a kind for each of n edges.
func RandomKinds(rng *rand.Rand, n int) []int32 {
	kinds := make([]int32, n)
	for i := range kinds {
		kinds[i] = int32(rng.IntN(4))
	}
	return kinds
}

// Each runs a property on random lists of homogeneous graphs, two of three with kinds.
func Each(t *testing.T, f func(t *testing.T, rng *rand.Rand, l Edges)) {
	t.Helper()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		l := RandomEdges(rng, false)
		if seed%3 > 0 {
			l.Kinds = RandomKinds(rng, len(l.Src))
		}
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) { f(t, rng, l) })
		if t.Failed() {
			return
		}
	}
}

// isNumbers reports whether x is 0, 1, … n−1.
func isNumbers(x []int32, n int) bool {
	for i, v := range x {
		if int(v) != i {
			return false
		}
	}
	return len(x) == n
}

// Sound checks what is true of every graph.
func Sound(t *testing.T, g Graph) {
	t.Helper()
	in, e := g.In(), 0
	if in.Values != nil || in.NumRows != g.NumDst() || in.NumCols != g.NumSrc() || len(in.Offsets) != g.NumDst()+1 {
		t.Fatalf("In is %v with %d offsets and values %v, for %v", in.Shape(), len(in.Offsets), in.Values, g)
	}
	if sorted := slices.Sorted(slices.Values(g.EdgeOrder())); g.EdgeOrder() == nil || !isNumbers(sorted, g.NumEdges()) {
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
func soundOut(t *testing.T, g Graph, outDegree []int) {
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

// Same checks that two graphs have the same edges under the same numbers.
func Same(t *testing.T, got, want Graph) {
	t.Helper()
	if got.NumSrc() != want.NumSrc() || got.Bipartite() != want.Bipartite() || !slices.Equal(got.In().Offsets, want.In().Offsets) ||
		!slices.Equal(got.In().Cols, want.In().Cols) || !slices.Equal(got.EdgeOrder(), want.EdgeOrder()) || !slices.Equal(got.Kinds(), want.Kinds()) {
		t.Fatalf("graphs differ: %v %v %v %v, want %v %v %v %v", got.In().Offsets, got.In().Cols, got.EdgeOrder(), got.Kinds(),
			want.In().Offsets, want.In().Cols, want.EdgeOrder(), want.Kinds())
	}
}

// Refuses checks that f panics with a ShapeError of op.
func Refuses(t *testing.T, op string, f func()) {
	t.Helper()
	if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), op+":") {
		t.Errorf("%s: error %v", op, err)
	}
}

// Sources returns the sources of node v's in-edges.
func Sources(g Graph, v int) []int32 {
	in := g.In()
	return in.Cols[in.Offsets[v]:in.Offsets[v+1]]
}

// Mistake returns what is said of a mistake that f makes: "error: " and the error that it returns, or "panic: " and the
// ShapeError that it panics with; nothing if it makes none.
func Mistake(f func() error) (said string) {
	err := tensor.Try(func() {
		if err := f(); err != nil {
			said = "error: " + err.Error()
		}
	})
	if err != nil {
		said = "panic: " + err.Error()
	}
	return said
}

// RandomRows returns some of n numbers, each once, in random order.
func RandomRows(rng *rand.Rand, n int) []int32 {
	rows := make([]int32, 0, n)
	for _, v := range rng.Perm(n)[:rng.IntN(n+1)] {
		rows = append(rows, int32(v))
	}
	return rows
}
