package graph

import "github.com/edgewise-ml/edgewise/sparse"

// Reorder returns g with its nodes renumbered so that nodes with many edges in
// common stand together: its [Graph.Permute] by clusters, which are found by
// label propagation. Kernels then read rows that lie close to each other. That
// pays where the rows of all nodes do not fit the cache, the graph has
// communities, and its numbering does not follow them yet; the work is some ten
// to some hundred sums over all edges. Rows x of g's nodes become
// y[i] = x[From().Src[i]].
//
// It panics with a [*tensor.ShapeError] if g is bipartite.
//
// The paper: Raghavan, Albert and Kumara, Near linear time algorithm to detect
// community structures in large-scale networks, 2007.
func (g *Graph) Reorder() *Graph {
	g.wantHomogeneous("graph.Reorder")
	return Must(g.Permute(sparse.Reorder(g.In())))
}
