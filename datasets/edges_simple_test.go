package datasets

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/datasets/form"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
		proper := graph.WithoutSelfLoops(whole)
		want, _, into := graph.Coalesce(proper)
		sums := make([]tensor.Float, want.NumEdges())
		listed := carried(pick(weights, whole.EdgeOrder()), proper.From().Edges, 1)
		for e, k := range into {
			sums[k] += listed[e]
		}
		var d *Dataset
		var err error
		raw := &form.Raw{Nodes: []form.Nodes{{Table: form.Table{Rows: n}}}, Edges: []form.Edges{{Source: src, Target: dst, Table: form.Table{Rows: len(src), Columns: []form.Column{{Name: "weight", Type: form.Number, Numbers: wide(weights)}}}}}}
		if d, err = From(raw, nil); err != nil {
			t.Fatal(err)
		}
		if in := d.Graph.In(); !slices.Equal(in.Offsets, want.In().Offsets) || !slices.Equal(in.Cols, want.In().Cols) || !slices.Equal(d.Weights, sums) {
			t.Fatalf("%v→%v: offsets %v, sources %v, weights %v; want %v, %v, %v", src, dst, in.Offsets, in.Cols, d.Weights, want.In().Offsets, want.In().Cols, sums)
		}
		if d.loops != len(src)-proper.NumEdges() || d.repeated != proper.NumEdges()-want.NumEdges() {
			t.Fatalf("%d loops, %d repeated", d.loops, d.repeated)
		}
	}
}

func wide(x []tensor.Float) (out []float64) {
	for _, v := range x {
		out = append(out, float64(v))
	}
	return out
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
		d, err := readWith(path)
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
