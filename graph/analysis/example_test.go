package analysis_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/analysis"
	"github.com/edgewise-ml/edgewise/tensor"
)

// PageRank, core numbers and the four largest communities become features beside those of a dataset.
func ExampleCommunities() {
	d := datasets.Karate()
	cores := analysis.CoreNumbers(d.Graph)
	ranks := analysis.PageRank(d.Graph, 0.85)
	community := analysis.Communities(rand.New(rand.NewPCG(0, 0)), d.Graph, 1)
	x := tensor.New(d.Graph.NumNodes(), 6)
	for v := range d.Graph.NumNodes() {
		x.Row(v)[0] = tensor.Float(math.Log(ranks[v]))
		x.Row(v)[1] = tensor.Float(math.Log1p(float64(cores[v])))
		if c := community[v]; c < 4 {
			x.Row(v)[2+c] = 1
		}
	}
	d = d.WithFeatures(x)
	fmt.Println(d.Features.Shape())
	// Output: [34 40]
}

// Node 0 of a path hears who is near, and not only its neighbour.
func ExampleDiffusion() {
	path := graph.Undirected(graph.Chains(5))
	h, weight, err := analysis.Diffusion{Teleport: 0.2, Keep: 3}.Graph(path, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, u := range h.Sources(0) {
		fmt.Printf("%d → 0 by %.2f\n", u, weight[e])
	}
	// Output:
	// 0 → 0 by 0.57
	// 1 → 0 by 0.30
	// 2 → 0 by 0.13
}
