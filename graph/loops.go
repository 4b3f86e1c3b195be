package graph

// WithSelfLoops returns g with a loop added to each node that has none, so
// doing it twice adds nothing. Its list is g's list and then the new loops by
// node, so a new loop is the last of its node's in-edges, and its From().Edges
// is −1. If g has kinds, new loops get one of their own: g's largest plus one.
//
// It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) WithSelfLoops() *Graph {
	g.wantHomogeneous("graph.WithSelfLoops")
	l, kind := g.list(), int32(0)
	for _, k := range g.kinds {
		kind = max(kind, k+1)
	}
	for v := range g.NumDst() {
		if g.hasLoop(v) {
			continue
		}
		l.src, l.dst, l.parent = append(l.src, int32(v)), append(l.dst, int32(v)), append(l.parent, -1)
		if l.kinds != nil {
			l.kinds = append(l.kinds, kind)
		}
	}
	g.wantFewEdges("graph.WithSelfLoops", len(l.src))
	return g.derive(l.sorted(g.NumDst(), g.NumDst()))
}

// WithoutSelfLoops returns g without its loops. Its list is what is left of g's
// list. It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) WithoutSelfLoops() *Graph {
	g.wantHomogeneous("graph.WithoutSelfLoops")
	l := g.list()
	var kept []int32
	for i, u := range l.src {
		if u != l.dst[i] {
			kept = append(kept, int32(i))
		}
	}
	return g.derive(l.pick(kept).sorted(g.NumDst(), g.NumDst()))
}

// hasLoop reports whether v of a homogeneous graph has an edge to itself.
func (g *Graph) hasLoop(v int) bool {
	for _, u := range g.sources(v) {
		if int(u) == v {
			return true
		}
	}
	return false
}
