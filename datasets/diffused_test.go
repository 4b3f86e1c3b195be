package datasets

import (
	"math"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A diffused dataset has the weights of its new edges, and all else as it was; the weights
// that it had count.
func TestDiffused(t *testing.T) {
	d := Karate()
	f := analysis.Diffusion{Keep: 8}
	plain, err := d.Diffused(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Check(); err != nil || plain.Graph.NumEdges() != 8*34 || len(d.Weights) != 0 {
		t.Errorf("%v, %v", plain.Graph, err)
	}
	sums := make([]float64, 34)
	for e, v := range plain.Graph.Destinations() {
		sums[v] += float64(plain.Weights[e])
	}
	for v, sum := range sums {
		if math.Abs(sum-1) > 1e-5 {
			t.Errorf("the weights into node %d add up to %v", v, sum)
		}
	}
	d.Weights = make([]tensor.Float, d.Graph.NumEdges())
	for e := range d.Weights {
		d.Weights[e] = 3
	}
	heavy, err := d.Diffused(f)
	if err != nil {
		t.Fatal(err)
	}
	if own := func(d *Dataset) tensor.Float { return d.Weights[0] }; own(heavy) == own(plain) {
		t.Error("weights of edges do not count")
	}
	d.Graph = graph.Must(graph.EdgeSubgraph(d.Graph, []int32{0, 5, 9}))
	d.Weights = nil
	if _, err := d.Diffused(f); err == nil || !strings.Contains(err.Error(), "do not go both ways") {
		t.Errorf("error %v", err)
	}
}
