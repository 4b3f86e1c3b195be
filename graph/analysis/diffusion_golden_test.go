package analysis_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/tensor"
)

// listed is a graph in testdata/gdc.json.
type listed struct {
	Name     string
	Src, Dst []int32
	Weight   []float64
}

// weights returns the weight of each edge by its ends.
func (l *listed) weights() map[[2]int32]float64 {
	of := map[[2]int32]float64{}
	for i, u := range l.Src {
		of[[2]int32{u, l.Dst[i]}] = l.Weight[i]
	}
	return of
}

// TestDiffusionGolden compares with PyTorch Geometric's transforms.GDC.
func TestDiffusionGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/gdc.json")
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		listed
		Nodes int
		Cases []listed
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	diffusions := map[string]analysis.Diffusion{
		"ppr top":            {Teleport: 0.15, Keep: 4},
		"ppr above":          {Teleport: 0.15, Threshold: 0.02},
		"ppr raw":            {Teleport: 0.15, Threshold: 0.02, Raw: true},
		"ppr walk":           {Teleport: 0.4, Keep: 4, Walk: true},
		"heat top":           {Time: 3, Keep: 4},
		"heat above":         {Time: 3, Threshold: 0.02},
		"heat without loops": {Time: 3, Threshold: 0.02, NoLoops: true, Raw: true},
	}
	if len(golden.Cases) != len(diffusions) {
		t.Fatalf("%d cases, want %d", len(golden.Cases), len(diffusions))
	}
	g := graph.Must(graph.New(golden.Nodes, golden.Src, golden.Dst))
	of := golden.weights()
	weight := make([]tensor.Float, g.NumEdges())
	for e, v := range g.Destinations() {
		weight[e] = tensor.Float(of[[2]int32{g.In().Cols[e], v}])
	}
	for _, c := range golden.Cases {
		d, known := diffusions[c.Name]
		if !known {
			t.Fatalf("the case %q is not known", c.Name)
		}
		h, got, err := d.Graph(g, weight)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		want := c.weights()
		if h.NumEdges() != len(want) {
			t.Errorf("%s: %d edges, want %d", c.Name, h.NumEdges(), len(want))
		}
		for e, v := range h.Destinations() {
			u := h.In().Cols[e]
			if w, there := want[[2]int32{u, v}]; !there || math.Abs(float64(got[e])-w) > 1e-6 {
				t.Errorf("%s: the edge %d → %d has the weight %v, want %v", c.Name, u, v, got[e], w)
			}
		}
	}
}
