package bench

import (
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Sources ascend in the rows of every kind of generated graph, as in the peers' files, and a grid
// joins each point with itself and those beside it.
func TestGeneratedGraphs(t *testing.T) {
	for name, edges := range map[string]int{"grid:1": 1, "grid:2": 12, "grid:5": 105, "uniform:50x400": 400, "50x400": 400} {
		b := sized(t, name)
		in := b.Get().In()
		if b.Edges != edges || in.NNZ() != edges || in.NumRows != b.Nodes || b.Get().NumNodes() != b.Nodes {
			t.Errorf("%s: %d × %d with %d edges, said to be %d nodes and %d edges", name, in.NumRows, in.NumCols, in.NNZ(), b.Nodes, b.Edges)
		}
		for v := range in.NumRows {
			if cols := in.Cols[in.Offsets[v]:in.Offsets[v+1]]; !slices.IsSorted(cols) {
				t.Errorf("%s: row %d has the sources %d", name, v, cols)
			}
		}
	}
	const side = 5
	in := sized(t, "grid:5").Get().In()
	for v := range side * side {
		for u := range side * side {
			apart := max(v/side-u/side, u/side-v/side) + max(v%side-u%side, u%side-v%side)
			if joined := slices.Contains(in.Cols[in.Offsets[v]:in.Offsets[v+1]], int32(u)); joined != (apart <= 1) {
				t.Errorf("from %d to %d: an edge is there: %t", u, v, joined)
			}
		}
	}
}

// sized is a graph of a size.
func sized(t *testing.T, name string) *Graph {
	t.Helper()
	g, err := GraphOfSize(name)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// smallMatrix is 5 × 7, with a row and a column of no elements.
func smallMatrix(t *testing.T) *Graph {
	t.Helper()
	a, err := sparse.New(5, 7, []int64{0, 3, 3, 4, 6, 9}, []int32{0, 2, 6, 1, 4, 3, 0, 2, 4}, []tensor.Float{2, -1, 0.5, 4, 3, -2, 1, 7, 0.25})
	if err != nil {
		t.Fatal(err)
	}
	g, err := GraphOfMatrix("small", a)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestGraphSaid(t *testing.T) {
	pairs, err := GraphOf("shop", graph.Must(graph.NewBipartite(3, 1, []int32{0, 2}, []int32{0, 0})), []tensor.Float{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	for want, g := range map[string]*Graph{
		"30x1: 30 nodes, 1 edge": sized(t, "30x1"),
		"small: 5 × 7, 9 elements; u_mul_e_sum multiplies by its values":               smallMatrix(t),
		"shop: 2 edges from 3 nodes to 1 other; u_mul_e_sum multiplies by its weights": pairs,
	} {
		if got := g.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
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
		if g := b.Get(); g.NumSrc() != s.nodes || g.NumEdges() != s.edges || b.Get() != g {
			t.Errorf("%s: %d nodes and %d edges, want %d and %d, and the same graph each time", s.name, g.NumSrc(), g.NumEdges(), s.nodes, s.edges)
		}
	}
	for _, bad := range []string{"", "x", "12", "0x5", "5x-1", "5x0", "ax3", "citeseer", "9999999999x1", "uniform:", "uniform:5", "uniform:0x5", "uniform:grid:3", "Grid:3"} {
		if _, err := GraphOfSize(bad); err == nil || !strings.Contains(err.Error(), "NODESxEDGES") {
			t.Errorf("size %q gives %v", bad, err)
		}
	}
	for _, bad := range []string{"grid:", "grid:0", "grid:-1", "grid:3x3", "grid:16385", "grid:99999999999999999999"} {
		if _, err := GraphOfSize(bad); err == nil || !strings.Contains(err.Error(), "from 1 to 16384, such as grid:1000") {
			t.Errorf("size %q gives %v", bad, err)
		}
	}
}
