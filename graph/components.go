package graph

// Components returns the number of weakly connected components of a homogeneous
// graph, and the component of each node: nodes are in the same one if a way
// leads from one to the other that may take edges in either direction. They are
// numbered by their lowest nodes. It panics with a [*tensor.ShapeError] if g is
// bipartite.
func (g *Graph) Components() (count int, of []int32) {
	g.wantHomogeneous("graph.Components")
	root := iota32(g.NumNodes()) // of each node one that is not higher; roots are their own
	find := func(v int32) int32 {
		for root[v] != v {
			root[v] = root[root[v]]
			v = root[v]
		}
		return v
	}
	for v := range g.NumNodes() {
		for _, u := range g.sources(v) {
			a, b := find(u), find(int32(v))
			root[max(a, b)] = min(a, b)
		}
	}
	of = make([]int32, len(root))
	for v := range of {
		if r := find(int32(v)); int(r) < v {
			of[v] = of[r]
		} else {
			of[v] = int32(count)
			count++
		}
	}
	return count, of
}
