package graph

import "github.com/edgewise-ml/edgewise/graph/internal/mistake"

// Reverse returns g with each edge turned round; of a bipartite graph the sides
// change places. Its list is g's list, edge for edge, so both graphs take edge
// rows in the same order of a list, and graph.Reverse(graph.Reverse(g)) has g's edges
// under g's numbers. Kinds and members are kept. [Graph.DstRows] of a reversed
// bipartite graph is nil: its destinations, once sources, are not sources now.
func Reverse(g *Graph) *Graph {
	mistake.Nil("graph.Reverse", g)
	l := g.list()
	l.src, l.dst = l.dst, l.src
	h := l.sorted(g.NumDst(), g.NumSrc())
	if !g.top().bipartite {
		return g.derive(h)
	}
	h.top().bipartite = true
	g.turnPlaces(h)
	h.from.Src, h.from.Dst = iota32(g.NumDst()), iota32(g.NumSrc())
	if g.members != nil {
		h.members = &members{src: g.members.dst, dst: g.members.src}
	}
	return h
}

// Undirected returns g with reversed edges added until there are as many edges
// from v to u as from u to v, for every two nodes: so doing it twice adds
// nothing, and parallel edges stay. From().Edges of a new edge is the edge that
// it reverses, whose weight and kind it takes over. The list is g's list and
// then the new edges in the order of those that they reverse.
//
// It panics with a [*tensor.ShapeError] if g is bipartite, or if there are more
// than 2³¹−1 edges.
func Undirected(g *Graph) *Graph {
	g.wantHomogeneous("graph.Undirected")
	l := g.list()
	for _, e := range g.unanswered() {
		u, v := g.In().Cols[e], g.Destinations()[e]
		l.src, l.dst, l.parent = append(l.src, v), append(l.dst, u), append(l.parent, e)
		if g.kinds != nil {
			l.kinds = append(l.kinds, g.kinds[e])
		}
	}
	g.wantFewEdges("graph.Undirected", len(l.src))
	return g.derive(l.sorted(g.NumDst(), g.NumDst()))
}

// Symmetric reports whether a homogeneous graph has as many edges from v to u as
// from u to v, for every two nodes. It panics with a [*tensor.ShapeError] if g
// is bipartite.
func (g *Graph) Symmetric() bool {
	g.wantHomogeneous("graph.Symmetric")
	return len(g.unanswered()) == 0
}

// unanswered returns the edges that have no edge back, ascending. Of parallel
// edges the first ones have got those back that there are.
func (g *Graph) unanswered() []int32 {
	var edges []int32
	back := borrowNumbers(g.NumSrc()) // how many edges lead from v to a node
	for v := range g.NumDst() {
		for _, u := range g.targets(v) {
			back.at[u]++
		}
		for e, u := range g.Sources(v) {
			if back.at[u] == 0 {
				edges = append(edges, e)
			} else {
				back.at[u]--
			}
		}
		for _, u := range g.targets(v) {
			back.at[u] = 0
		}
	}
	back.giveBack(nil)
	return edges
}
