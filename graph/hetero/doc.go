// Package hetero holds graphs whose nodes are of several types, and blocks of them.
//
// A [Graph] has nodes of several types, each type numbered from 0 up, and a [graph.Graph] for each relation between them. A
// [Rel] names a relation: what its edges mean, and the types that they lead from and to.
//
//	writes := hetero.Rel{Src: "author", Name: "writes", Dst: "paper"}
//	g, err := graph.NewBipartite(2, 3, []int32{0, 0, 1}, []int32{0, 1, 2})
//	h, err := hetero.New(map[string]int{"author": 2, "paper": 3}, map[hetero.Rel]*graph.Graph{writes: g})
//
// [Homogeneous] returns such a graph as one graph whose edges have kinds, which samplers and transforms take, and [Of] leads
// back. [Split] makes a block of that one graph a block of several types, as [NewBlock] makes it of its parts.
//
// Like package graph this one knows no features and no gradients. Slices that it returns must not be modified.
package hetero
