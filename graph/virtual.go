package graph

// WithVirtualNodes returns g with one more node in each member, the member's last, which has
// an edge to each other node of it and one from it: two steps lead from each node to each
// other. From() has −1 for the nodes and edges that are new. Kinds are kept if there are
// any: edges to a virtual node have the kind after the largest, those from it the next. The
// list is the result's own order. It panics with a [*tensor.ShapeError] if g is bipartite,
// or there are too many edges.
func (g *Graph) WithVirtualNodes() *Graph {
	g.wantHomogeneous("graph.WithVirtualNodes")
	g.wantFewEdges("graph.WithVirtualNodes", g.NumEdges()+2*g.NumNodes())
	at, in := g.NodeOffsets(), g.In()
	kind := int32(0)
	for _, k := range g.kinds {
		kind = max(kind, k+1)
	}
	own := []int{0}
	offsets, cols, edges, nodes := []int64{0}, []int32{}, []int32{}, []int32{}
	var kinds []int32
	add := func(u int, e, k int32) {
		cols, edges = append(cols, int32(u)), append(edges, e)
		if g.kinds != nil {
			kinds = append(kinds, k)
		}
	}
	for m := range len(at) - 1 {
		lo, hi := at[m], at[m+1]
		extra := hi + m // the virtual node's number; m came before it
		for v := lo; v < hi; v++ {
			for e := in.Offsets[v]; e < in.Offsets[v+1]; e++ {
				k := int32(0)
				if g.kinds != nil {
					k = g.kinds[e]
				}
				add(int(in.Cols[e])+m, int32(e), k)
			}
			add(extra, -1, kind+1)
			offsets, nodes = append(offsets, int64(len(cols))), append(nodes, int32(v))
		}
		for v := lo; v < hi; v++ {
			add(v+m, -1, kind)
		}
		offsets, nodes = append(offsets, int64(len(cols))), append(nodes, -1)
		own = append(own, extra+1)
	}
	h := ofCSR(len(nodes), offsets, cols, false)
	h.kinds, h.members = kinds, &members{src: own, dst: own}
	h.from = Origin{Edges: edges, Src: nodes, Dst: nodes}
	return h
}
