package datasets

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestPieces(t *testing.T) {
	for _, n := range []int{0, 1, pieceLeast - 1, pieceLeast, pieceLeast + 1, pieceMost, 3*pieceMost + 7} {
		var p chunkedSlice[int]
		for i := range n {
			p.add(i)
		}
		if p.n != n {
			t.Errorf("%d of %d elements", p.n, n)
		}
		got := p.join()
		for i, v := range got {
			if i != v {
				t.Fatalf("element %d of %d is %d", i, n, v)
			}
		}
		if len(got) != n || cap(got) != n || p.n != 0 || len(p.join()) != 0 {
			t.Errorf("%d elements in the place of %d, for %d; %d are left", len(got), cap(got), n, p.n)
		}
	}
}

// Numbers that do not fit 32 bits may come first, last, or after many that do.
func TestNumberedEdges(t *testing.T) {
	const far = math.MaxInt32 + 1
	for i, list := range [][]int64{nil, {3, 1, 1, 3}, {far, 0}, {0, far, 5, 5}, {math.MaxInt32, 7}, {7, 9, 9, math.MaxInt64}} {
		counts := []int{0, pieceLeast}
		if i == 2 || i == 4 { // one with far numbers and one with none
			counts = append(counts, 2*pieceMost)
		}
		for _, before := range counts {
			e := new(numberedEdges)
			var all []int64
			for i := range before {
				all = append(all, int64(i), int64(i*i%1009))
			}
			all = append(all, list...)
			for i := 0; i < len(all); i += 2 {
				if err := e.add(all[i], all[i+1]); err != nil {
					t.Fatal(err)
				}
			}
			if big := slices.ContainsFunc(list, func(v int64) bool { return v >= far }); big != (e.wide != nil) || e.n != len(all)/2 {
				t.Errorf("%v: %d edges, wide %t", list, e.n, e.wide != nil)
			}
			ids, src, dst, err := e.number()
			if err != nil || !slices.IsSorted(ids) || len(src) != len(all)/2 || len(dst) != len(src) {
				t.Fatalf("%v: ids %v, %d sources, %d destinations, error %v", list, ids, len(src), len(dst), err)
			}
			for i := range src {
				if ids[src[i]] != all[2*i] || ids[dst[i]] != all[2*i+1] {
					t.Fatalf("edge %d is %d→%d, want %d→%d", i, ids[src[i]], ids[dst[i]], all[2*i], all[2*i+1])
				}
			}
		}
	}
}

// simple is what taking out loops and then making parallel edges one is.
func TestSimple(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 200 {
		n := 1 + rng.IntN(12)
		var src, dst []int32
		var weights []tensor.Float
		for range rng.IntN(60) {
			src, dst = append(src, int32(rng.IntN(n))), append(dst, int32(rng.IntN(n)))
			weights = append(weights, tensor.Float(rng.IntN(9)-4))
		}
		whole := graph.Must(graph.New(n, src, dst))
		proper := whole.WithoutSelfLoops()
		want, _, into := proper.Coalesce()
		sums := make([]tensor.Float, want.NumEdges())
		listed := carried(pick(weights, whole.EdgeOrder()), proper.From().Edges, 1)
		for e, k := range into {
			sums[k] += listed[e]
		}
		d := new(Dataset)
		if _, err := d.simple(n, src, dst, weights); err != nil {
			t.Fatal(err)
		}
		if in := d.Graph.In(); !slices.Equal(in.Offsets, want.In().Offsets) || !slices.Equal(in.Cols, want.In().Cols) || !slices.Equal(d.Weights, sums) {
			t.Fatalf("%v→%v: offsets %v, sources %v, weights %v; want %v, %v, %v", src, dst, in.Offsets, in.Cols, d.Weights, want.In().Offsets, want.In().Cols, sums)
		}
		if d.loops != len(src)-proper.NumEdges() || d.repeated != proper.NumEdges()-want.NumEdges() {
			t.Fatalf("%d loops, %d repeated", d.loops, d.repeated)
		}
	}
	if _, err := new(Dataset).simple(2, []int32{0, 2}, []int32{1, 1}, nil); err == nil {
		t.Error("node 2 of 2")
	}
}

// A list of edges takes eight bytes an edge while it is read, and some more until
// it is a graph, however it is compressed.
func TestEdgeListMemory(t *testing.T) {
	const edges = 1 << 17 // twice as many as a piece has
	for name, b := range map[string][]byte{
		"e.txt.gz": gz(strings.Repeat("0 1\n", edges)),
		"m.mtx.gz": gz("%%MatrixMarket matrix coordinate pattern general\n2 2 131072\n" + strings.Repeat("1 2\n", edges)),
		"p.zip":    zipOf("p.content", paperContent, "p.cites", strings.Repeat("30 4\n", edges)),
	} {
		path := put(t, name, b)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		d, err := Read(path)
		runtime.ReadMemStats(&after)
		if err != nil || d.repeated != edges-1 {
			t.Fatalf("%s: %+v, error %v", name, d, err)
		}
		// What is allocated in all bounds what is held at once, but for lines that
		// come and go: those of papers.
		if got := (after.TotalAlloc - before.TotalAlloc) / edges; name != "p.zip" && got > 48 {
			t.Errorf("%s: %d bytes an edge", name, got)
		}
	}
}
