package nearest_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph/nearest"
	"github.com/edgewise-ml/edgewise/tensor"
)

// The two nearest of five points.
func ExampleKNN() {
	g, err := nearest.KNN(tensor.Of([]tensor.Float{0, 1, 3, 7, 8}, 5, 1), 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range g.NumNodes() {
		for _, u := range g.Sources(v) {
			fmt.Print(u, " ")
		}
		fmt.Println("→", v)
	}
	// Output:
	// 1 2 → 0
	// 0 2 → 1
	// 1 0 → 2
	// 4 2 → 3
	// 3 2 → 4
}

// Two sets of points, of which none hears one of the other set, by the angles between them.
func ExampleNeighbours() {
	points := tensor.Of([]tensor.Float{1, 0, 5, 1, 0, 2, 1, 1, 2, 2.2}, 5, 2)
	g, err := nearest.Neighbours{K: 1, Cosine: true, Members: []int{0, 3, 5}}.Graph(points)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g.In().Cols, g.NodeOffsets())
	// Output: [1 0 1 4 3] [0 3 5]
}
