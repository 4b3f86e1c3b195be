package graph_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
)

// Edges are stored by destination; EdgeOrder leads back to the list.
func ExampleNew() {
	src := []int32{0, 3, 2, 1}
	dst := []int32{2, 0, 0, 2}
	g, err := graph.New(4, src, dst)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(g)
	fmt.Println("sources     ", g.In().Cols)
	fmt.Println("destinations", g.Destinations())
	fmt.Println("in the list ", g.EdgeOrder())

	_, err = graph.New(3, src, dst)
	fmt.Println(err)
	// Output:
	// Graph(4 nodes, 4 edges)
	// sources      [3 2 0 1]
	// destinations [0 0 2 2]
	// in the list  [1 2 0 3]
	// graph: edge 1 of 4, 3 → 0: the source is not in 0..2
}

// One layer reads the seeds and their in-neighbours.
func ExampleGraph_Block() {
	g := graph.Ring(8, 1) // v hears v−1
	b, err := g.Block([]int32{5, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b, b.From().Src)
	// Output: Graph(4 → 2 nodes, 2 edges) [5 2 1 4]
}

// A network of two layers reads two hops around its seeds.
func ExampleGraph_Blocks() {
	g := graph.Ring(8, 1) // v hears v−1
	blocks, err := g.Blocks([]int32{5, 2}, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("first:", blocks[0], blocks[0].From().Src)
	fmt.Println("last: ", blocks[1], blocks[1].From().Src)
	// Output:
	// first: Graph(6 → 4 nodes, 4 edges) [5 2 1 4 0 3]
	// last:  Graph(4 → 2 nodes, 2 edges) [5 2 1 4]
}

// Two sentences of three and two words.
func ExampleChains() {
	g := graph.Chains(3, 2)
	fmt.Println("roots    ", g.Roots())
	fmt.Println("sinks    ", g.Sinks())
	fmt.Println("positions", g.Positions())
	fmt.Println("sentence ", g.Membership().Destinations())
	levels, _ := g.Levels()
	for i := range levels.Len() {
		fmt.Println("level", i, levels.Order[levels.Offsets[i]:levels.Offsets[i+1]])
	}
	// Output:
	// roots     [0 3]
	// sinks     [2 4]
	// positions [0 1 2 0 1]
	// sentence  [0 0 0 1 1]
	// level 0 [0 3]
	// level 1 [1 4]
	// level 2 [2]
}
