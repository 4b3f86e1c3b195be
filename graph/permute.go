package graph

import "fmt"

// Permute returns g with its nodes renumbered: node i of the result is node
// nodes[i] of g, so rows x of g's nodes become y[i] = x[nodes[i]]. Its list is
// g's list, edge for edge. Kinds are kept, members are not.
//
// The error says where nodes is not a permutation. It panics with a
// [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Permute(nodes []int32) (*Graph, error) {
	g.wantHomogeneous("graph.Permute")
	if len(nodes) != g.NumNodes() {
		return nil, fmt.Errorf("graph: a permutation of %d for %d nodes", len(nodes), g.NumNodes())
	}
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
