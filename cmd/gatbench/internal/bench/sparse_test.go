package bench

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// onSmallGraph are all kernels and layers on a graph of 40 nodes.
func onSmallGraph(t *testing.T, heads, dim int) []Benchmark {
	t.Helper()
	g, err := GraphOfSize("40x200")
	if err != nil {
		t.Fatal(err)
	}
	c := sparseChoice{graphs: []*Graph{g}, heads: heads, dim: dim}
	return slices.Concat(sparseBenchmarks(2, c), layerBenchmarks(2, c))
}

// Every kernel on a graph runs on any graph and width, and says what it took.
func TestSparseBenchmarks(t *testing.T) {
	shapes := []sparseShape{{0, 0}, {3, 5}}
	if sparing.Full() {
		shapes = append(shapes, sparseShape{1, 7})
	}
	for _, shape := range shapes {
		all := onSmallGraph(t, shape.heads, shape.dim)
		if len(all) < 12 {
			t.Fatalf("only %d benchmarks", len(all))
		}
		for _, b := range all {
			l, err := NewTimer("test", quick).Time(t.Context(), &b)
			if err != nil {
				t.Fatalf("%s: %v", b.name, err)
			}
			if l.Op != b.op || l.MedianMS <= 0 || l.Params["nodes"] != 40 || l.Params["edges"] != 200 {
				t.Errorf("%s: %+v", b.name, l)
			}
			if strings.HasPrefix(l.Op, "layer/") && l.Extra.ForwardMS <= 0 {
				t.Errorf("%s has no time of its forward pass", b.name)
			}
		}
	}
}

// What a kernel is compared with does the same work.
func TestPlainSums(t *testing.T) {
	b, err := GraphOfSize("30x150")
	if err != nil {
		t.Fatal(err)
	}
	g, s := b.get(), sparseShape{2, 3}
	x, w := newOperand(g.NumSrc(), 2, 3), newOperand(g.NumEdges(), 2)
	for _, weights := range []*tensor.Dense{nil, w} {
		y := tensor.New(g.NumDst(), 2, 3)
		plainSum(g.In(), x, y, weights, s).call()
		for v := range g.NumDst() {
			for j := range 6 {
				want := 0.0
				for k := g.In().Offsets[v]; k < g.In().Offsets[v+1]; k++ {
					c := 1.0
					if weights != nil {
						c = float64(weights.Row(int(k))[j/3])
					}
					want += c * float64(x.Row(int(g.In().Cols[k]))[j])
				}
				if got := float64(y.Row(v)[j]); math.Abs(got-want) > 1e-5 {
					t.Fatalf("weights %v, node %d, column %d: %v, want %v", weights != nil, v, j, got, want)
				}
			}
		}
	}
}

func TestWalkReadsEverySource(t *testing.T) {
	g := graph.Ring(10, 1)
	x := tensor.New(10, 3)
	x.Fill(1)
	for _, parts := range []int{1, walkParts} {
		call, sums := walkInto(g, x, parts)
		call()
		total := tensor.Float(0)
		for _, v := range sums.Data {
			total += v
		}
		if total != 30 {
			t.Errorf("%d parts: %v elements read, want 30", parts, total)
		}
	}
}

func TestGraphSizes(t *testing.T) {
	drawn := graphSizes[:2]
	if sparing.Full() {
		drawn = graphSizes[:3] // a million edges
	}
	for _, s := range drawn {
		b, err := GraphOfSize(s.name)
		if err != nil {
			t.Fatal(err)
		}
		if g := b.get(); g.NumSrc() != s.nodes || g.NumEdges() != s.edges || b.get() != g {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d, and the same graph each time", s.name, g.NumSrc(), g.NumEdges(), s.nodes, s.edges)
		}
	}
	for _, bad := range []string{"", "x", "12", "0x5", "5x-1", "ax3", "citeseer", "9999999999x1"} {
		if _, err := GraphOfSize(bad); err == nil || !strings.Contains(err.Error(), "NODESxEDGES") {
			t.Errorf("size %q gives %v", bad, err)
		}
	}
}
