package hetero_test

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/hetero"
)

// Authors write papers, and papers cite papers.
func ExampleGraph() {
	writes, cites := hetero.Rel{Src: "author", Name: "writes", Dst: "paper"}, hetero.Rel{Src: "paper", Name: "cites", Dst: "paper"}
	h, err := hetero.New(map[string]int{"author": 2, "paper": 3}, map[hetero.Rel]*graph.Graph{
		writes: graph.Must(graph.NewBipartite(2, 3, []int32{0, 0, 1}, []int32{0, 1, 2})),
		cites:  graph.Must(graph.New(3, []int32{2}, []int32{0})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range h.Into("paper") {
		fmt.Println(r, h.Graph(r))
	}
	g, ends := hetero.Homogeneous(h)
	fmt.Println(g, "kinds", g.Kinds(), "types from", ends)
	// Output:
	// author -writes-> paper Graph(2 → 3 nodes, 3 edges)
	// paper -cites-> paper Graph(3 nodes, 1 edges)
	// Graph(5 nodes, 4 edges) kinds [0 1 0 0] types from [0 2 5]
}

// One list of nodes and one of edges becomes a graph for each relation.
func ExampleOf() {
	g := graph.Must(graph.WithKinds(graph.Must(graph.New(4, []int32{0, 0, 2, 3}, []int32{1, 3, 1, 1})), []int32{0, 0, 0, 1}))
	h, nodes, err := hetero.Of(g, []string{"author", "paper"}, []int32{0, 1, 0, 1}, []string{"writes", "cites"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range h.Rels() {
		fmt.Println(r, h.Graph(r))
	}
	fmt.Println(nodes)
	// Output:
	// author -writes-> paper Graph(2 → 2 nodes, 3 edges)
	// paper -cites-> paper Graph(2 nodes, 1 edges)
	// map[author:[0 2] paper:[1 3]]
}

// A block of one graph becomes one of several types: what a layer reads to say something of paper 0.
func ExampleSplit() {
	h, err := hetero.New(map[string]int{"author": 3, "paper": 3}, map[hetero.Rel]*graph.Graph{
		{Src: "author", Name: "writes", Dst: "paper"}: graph.Must(graph.NewBipartite(3, 3, []int32{2, 1, 0}, []int32{0, 1, 2})),
		{Src: "paper", Name: "cites", Dst: "paper"}:   graph.Must(graph.New(3, []int32{1}, []int32{0})),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	all, ends := hetero.Homogeneous(h)
	b, err := graph.Block(all, []int32{int32(ends[1])}) // paper 0: papers are type number 1
	if err != nil {
		fmt.Println(err)
		return
	}
	block, rows, err := hetero.Split(h, b)
	if err != nil {
		fmt.Println(err)
		return
	}
	for k, name := range block.Types() {
		fmt.Printf("%s, %d of %d destinations:", name, block.NumDst(name), block.NumNodes(name))
		for _, row := range rows[name] {
			fmt.Print(" ", b.From().Src[row]-int32(ends[k]))
		}
		fmt.Println()
	}
	for _, r := range block.Rels() {
		fmt.Println(r, block.Graph(r))
	}
	// Output:
	// author, 0 of 1 destinations: 2
	// paper, 1 of 2 destinations: 0 1
	// author -writes-> paper Graph(1 → 1 nodes, 1 edges)
	// paper -cites-> paper Graph(2 → 1 nodes, 1 edges)
}
