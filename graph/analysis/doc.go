// Package analysis works out what a graph is like: what its parts are, which of its nodes matter, and where a node stands.
//
//	parts          [Components], [LargestComponent], [Communities], [Matching]
//	nodes          [PageRank], [CoreNumbers]
//	positions      [LaplacianVectors], [ReturnProbabilities]: columns that become features
//	other edges    [Diffusion] joins nodes that many short walks join
//
// Its functions take a [graph.Graph] and return a number or a row for each node, in the order of the nodes:
//
//	nodes := analysis.LargestComponent(g)
//	h, err := graph.Subgraph(g, nodes)
//	ranks := analysis.PageRank(h, 0.85)
//
// They want a homogeneous graph, and treat each member of a batch by itself where that makes a difference. What is drawn at
// random comes from the generator that they are given, and is the same on any number of threads. Nothing is kept with the
// graph: call once and keep the result. What asks whether edges have a direction is a method of the graph: [graph.Graph.Symmetric],
// [graph.Graph.Levels].
package analysis
