package analysis_test

import (
	"math"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/graph/internal/graphtest"
)

// ring is a circle of n nodes, both ways.
func ring(n int) *graph.Graph { return graph.Ring(n, 1, -1) }

// TestReturnProbabilities compares with powers of the matrix of steps.
func TestReturnProbabilities(t *testing.T) {
	one := graph.Must(graph.New(4, []int32{0, 0, 1, 2, 1}, []int32{1, 2, 0, 0, 2})) // node 3 has no edges
	g := graph.Batch(ring(5), one)
	const steps = 6
	y, err := analysis.ReturnProbabilities(g, steps)
	if err != nil {
		t.Fatal(err)
	}
	n := g.NumNodes()
	step, power := make([][]float64, n), make([][]float64, n)
	for u := range n {
		step[u], power[u] = make([]float64, n), make([]float64, n)
		power[u][u] = 1
		for _, v := range g.Targets(u) {
			step[u][v] += 1 / float64(g.OutDegree(u))
		}
	}
	for k := range steps {
		next := make([][]float64, n)
		for u := range n {
			next[u] = make([]float64, n)
			for w := range n {
				for v := range n {
					next[u][v] += power[u][w] * step[w][v]
				}
			}
		}
		power = next
		for u := range n {
			if got := float64(y.Row(u)[k]); math.Abs(got-power[u][u]) > 1e-6 {
				t.Errorf("node %d, %d steps: %v, want %v", u, k+1, got, power[u][u])
			}
		}
	}
	graphtest.Refuses(t, "analysis.ReturnProbabilities", func() { analysis.ReturnProbabilities(g, 0) })
	graphtest.Refuses(t, "analysis.LaplacianVectors", func() { analysis.LaplacianVectors(g, 0) })
	if _, err := analysis.ReturnProbabilities(ring(200_001), 1); err == nil || !strings.Contains(err.Error(), "member 0 has 200001 nodes: walks of 1 steps from each would pass 1e+11 nodes and edges") {
		t.Errorf("error %v", err)
	}
	large, err := analysis.ReturnProbabilities(ring(2300), 4) // in several pieces
	if err != nil {
		t.Fatal(err)
	}
	for v := range 2300 {
		if r := large.Row(v); r[0] != 0 || r[1] != 0.5 || r[2] != 0 || r[3] != 0.375 {
			t.Fatalf("node %d of a large ring: %v, want 0, 1/2, 0 and 3/8", v, r)
		}
	}
}

// TestLaplacianVectors checks the equation of eigenvectors, and those of a circle, whose
// eigenvalues are known.
func TestLaplacianVectors(t *testing.T) {
	g := graph.Batch(graph.Must(graph.New(1, nil, nil)), ring(6), ring(3), graph.Star(5))
	const columns = 3
	y, err := analysis.LaplacianVectors(g, columns)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{1: {0.5, 0.5, 1.5}, 2: {1.5, 1.5}, 3: {1, 1, 1}}
	at := g.NodeOffsets()
	for m, values := range want {
		for k, value := range values {
			norm := 0.0
			for v := at[m]; v < at[m+1]; v++ {
				x := float64(y.Row(v)[k])
				norm += x * x
				for _, u := range g.Sources(v) {
					x -= float64(y.Row(int(u))[k]) / math.Sqrt(float64(g.InDegree(v)*g.InDegree(int(u))))
				}
				if math.Abs(x-value*float64(y.Row(v)[k])) > 1e-5 {
					t.Errorf("member %d, vector %d: L·x is %v at node %d, want %v times %v", m, k, x, v, value, y.Row(v)[k])
				}
			}
			if math.Abs(norm-1) > 1e-5 {
				t.Errorf("member %d: vector %d has the length %v", m, k, norm)
			}
		}
	}
	if y.Row(0)[0] != 0 || y.Row(8)[2] != 0 {
		t.Error("a member of few nodes has vectors that it cannot have")
	}
}
