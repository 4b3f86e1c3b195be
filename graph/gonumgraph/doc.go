// Package gonumgraph shows graphs to gonum's algorithms, and takes graphs from gonum.
//
//	view := gonumgraph.Of(g) // gonum's graph.Directed
//	shortest := path.DijkstraFrom(view.Node(0), view)
//	g, ids, weights, err := gonumgraph.From(theirs)
//
// [Of] returns a [View]; [Weighted] one whose edges weigh something, and [Undirected] one of a symmetric graph. Views copy
// nothing but a list of the edges without parallel ones, once a graph. [From] reads any graph of gonum. What package analysis
// computes is faster there.
package gonumgraph
