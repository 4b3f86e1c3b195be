package graph

// Origin says what a derived graph is made of. Edges holds, for each edge, the
// parent's edge: its number in the parent's own order, so that rows of the
// parent's edges are carried over by one gather. Src and Dst hold, for each
// source and each destination, the parent's node. What is new has −1.
//
// Of a homogeneous graph Src and Dst are the same.
type Origin struct {
	Edges, Src, Dst []int32
}

// From returns what g is made of, if it was made from another graph, and the
// zero Origin if it was made from a list or is one of the regular graphs.
// [Graph.WithKinds] only adds labels: its result has the receiver's Origin.
//
// Of a graph of blocks ([Graph.Spans]) the edges are listed on first use.
func (g *Graph) From() Origin {
	o := g.from
	if g.fromEdges != nil {
		o.Edges = g.fromEdges()
	}
	return o
}

// DstRows returns, for each destination, which source it is: of a block
// 0..NumDst−1, of a [Graph.Dst] view its rows, of a homogeneous graph each node
// itself. On any other bipartite graph destinations are not sources, and it
// returns nil.
func (g *Graph) DstRows() []int32 {
	if g.top().bipartite {
		return g.top().dstRows
	}
	return g.nodes()
}

// nodes returns each node of a homogeneous graph, in order.
func (g *Graph) nodes() []int32 {
	g.top().identityOnce.Do(func() { g.top().identity = iota32(g.NumDst()) })
	return g.top().identity
}

// derive makes h, just built over g's nodes, a child of g: it keeps g's nodes
// and members. The edges are up to the caller.
func (g *Graph) derive(h *Graph) *Graph {
	h.members = g.members
	if !g.top().bipartite {
		h.from.Src, h.from.Dst = g.nodes(), g.nodes()
		return h
	}
	h.top().bipartite, h.top().dstRows, h.top().places = true, g.top().dstRows, g.top().places
	h.from.Src, h.from.Dst = iota32(g.NumSrc()), iota32(g.NumDst())
	return h
}

// Reverse returns g with each edge turned round; of a bipartite graph the sides
// change places. Its list is g's list, edge for edge, so both graphs take edge
// rows in the same order of a list, and g.Reverse().Reverse() has g's edges
// under g's numbers. Kinds and members are kept. [Graph.DstRows] of a reversed
// bipartite graph is nil: its destinations, once sources, are not sources now.
func (g *Graph) Reverse() *Graph {
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
