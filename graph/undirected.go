package graph

import (
	"cmp"
	"slices"
)

// Undirected returns g with reversed edges added until there are as many edges
// from v to u as from u to v, for every two nodes: so doing it twice adds
// nothing, and parallel edges stay. From().Edges of a new edge is the edge that
// it reverses, whose weight and kind it takes over. The list is g's list and
// then the new edges in the order of those that they reverse.
//
// It panics with a [*tensor.ShapeError] if g is bipartite, or if there are more
// than 2³¹−1 edges.
func (g *Graph) Undirected() *Graph {
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

// Coalesce returns g with edges made one that have the same ends and, if g has
// kinds, the same kind. counts holds for each edge of h how many edges of g it
// stands for, and into for each edge of g the edge of h that does:
//
//	for e, k := range into {
//		sum[k] += weight[e] // weights of g's edges become those of h's
//	}
//
// The list is what is left of g's list, where the first of several stays; that
// is also the edge in From().Edges.
func (g *Graph) Coalesce() (h *Graph, counts, into []int32) {
	first := g.firsts()
	var kept []int32 // places in the list
	l := g.list()
	for i, e := range l.parent {
		if first[e] == e {
			kept = append(kept, int32(i))
		}
	}
	h = g.derive(l.pick(kept).sorted(g.NumSrc(), g.NumDst()))
	number := make([]int32, g.NumEdges())
	for e, p := range h.from.Edges {
		number[p] = int32(e)
	}
	counts, into = make([]int32, h.NumEdges()), gather(number, first)
	for _, k := range into {
		counts[k]++
	}
	return h, counts, into
}

// firsts returns for each edge the first that has the same ends and kind.
func (g *Graph) firsts() []int32 {
	first, cols, row := iota32(g.NumEdges()), g.In().Cols, []int32{}
	kind := func(e int32) int32 {
		if g.kinds == nil {
			return 0
		}
		return g.kinds[e]
	}
	compare := func(a, b int32) int {
		return cmp.Or(cmp.Compare(cols[a], cols[b]), cmp.Compare(kind(a), kind(b)))
	}
	for v := range g.NumDst() {
		row = interval(row[:0], g.firstEdge(v), g.firstEdge(v)+g.InDegree(v))
		slices.SortStableFunc(row, compare)
		for i := 1; i < len(row); i++ {
			if e, before := row[i], row[i-1]; compare(e, before) == 0 {
				first[e] = first[before]
			}
		}
	}
	return first
}
