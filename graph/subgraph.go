package graph

import (
	"slices"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Subgraph returns the graph of the given nodes, in the order given, with the
// edges that have both ends among them. Within a destination edges keep g's
// order; the list is the result's own order. Kinds are kept, members are not.
// The error names a node that is repeated or not in g. It panics with a
// [*tensor.ShapeError] if g is bipartite: its [Dst] and [Block] are
// for that.
func Subgraph(g *Graph, nodes []int32) (*Graph, error) {
	g.wantHomogeneous("graph.Subgraph")
	if err := distinct("entry", nodes, g.NumNodes(), "node"); err != nil {
		return nil, err
	}
	number := borrowNumbers(g.NumNodes())
	for i, v := range nodes {
		number.at[v] = int32(i) + 1
	}
	offsets := make([]int64, 1, len(nodes)+1)
	var cols, edges []int32
	for _, v := range nodes {
		for e, u := range g.Sources(int(v)) {
			if i := number.at[u]; i > 0 {
				cols, edges = append(cols, i-1), append(edges, e)
			}
		}
		offsets = append(offsets, int64(len(cols)))
	}
	number.giveBack(nodes)
	h := ofCSR(len(nodes), offsets, cols, false)
	h.kinds = gather(g.kinds, edges)
	own := append([]int32{}, nodes...)
	h.from = Origin{Edges: edges, Src: own, Dst: own}
	return h, nil
}

// EdgeSubgraph returns the graph of all of g's nodes with the given edges of g
// only. The list is the edges as they are given. Kinds and members are kept. The
// error names an edge that is repeated or not in g.
func EdgeSubgraph(g *Graph, edges []int32) (*Graph, error) {
	mistake.Nil("graph.EdgeSubgraph", g)
	if err := distinct("entry", edges, g.NumEdges(), "edge"); err != nil {
		return nil, err
	}
	l := list{
		src: gather(g.In().Cols, edges), dst: gather(g.Destinations(), edges),
		kinds: gather(g.kinds, edges), parent: append([]int32{}, edges...),
	}
	return g.derive(l.sorted(g.NumSrc(), g.NumDst())), nil
}

// Neighbourhood returns the [Subgraph] of all nodes from which one of the
// seeds can be reached over at most that many edges. Its first nodes are the
// seeds, in the order given, and the others ascend; From().Src names them. So
// what a network of that many layers says of the seeds in g, it says of the
// first nodes here, as long as the weights of edges do not depend on the degrees
// of nodes at the rim.
//
// The error names a seed that is repeated or not in g. It panics with a [*tensor.ShapeError] if g is bipartite or hops is
// negative.
func Neighbourhood(g *Graph, seeds []int32, hops int) (*Graph, error) {
	g.wantHomogeneous("graph.Neighbourhood")
	mistake.NotNegative("graph.Neighbourhood", "hops", hops)
	if err := g.checkRows("seed", seeds); err != nil {
		return nil, err
	}
	seen := borrowNumbers(g.NumNodes())
	nodes := append([]int32{}, seeds...)
	for _, v := range nodes {
		seen.at[v] = 1
	}
	for first := 0; hops > 0 && first < len(nodes); hops-- {
		last := len(nodes)
		for _, v := range nodes[first:last] {
			for _, u := range g.sources(int(v)) {
				if seen.at[u] == 0 {
					seen.at[u] = 1
					nodes = append(nodes, u)
				}
			}
		}
		first = last
	}
	seen.giveBack(nodes)
	slices.Sort(nodes[len(seeds):])
	return Subgraph(g, nodes)
}

// Permute returns g with its nodes renumbered: node i of the result is node
// nodes[i] of g, so rows x of g's nodes become y[i] = x[nodes[i]]. Its list is
// g's list, edge for edge. Kinds are kept, members are not.
//
// The error says where nodes is not a permutation. It panics with a
// [*tensor.ShapeError] if g is bipartite, or nodes are not as many as g's.
func Permute(g *Graph, nodes []int32) (*Graph, error) {
	g.wantHomogeneous("graph.Permute")
	mistake.Length("graph.Permute", "new numbers", len(nodes), "nodes", g.NumNodes())
	if err := distinct("entry", nodes, g.NumNodes(), "node"); err != nil {
		return nil, err
	}
	number := make([]int32, len(nodes))
	for i, v := range nodes {
		number[v] = int32(i)
	}
	l := g.list()
	l.src, l.dst = gather(number, l.src), gather(number, l.dst)
	h := l.sorted(len(nodes), len(nodes))
	own := append([]int32{}, nodes...)
	h.from.Src, h.from.Dst = own, own
	return h, nil
}

// Reorder returns g with its nodes renumbered so that nodes with many edges in
// common stand together: its [Permute] by clusters, which are found by
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
func Reorder(g *Graph) *Graph {
	g.wantHomogeneous("graph.Reorder")
	return Must(Permute(g, sparse.Reorder(g.In())))
}
