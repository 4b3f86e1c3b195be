package graph

// members is where the members of a disjoint union begin and end, on each side:
// one number a member and the end. A homogeneous graph has the same on both.
type members struct {
	src, dst []int
}

// SrcOffsets returns the ranges of sources of the members of a batch, of
// [Chains] or of [Trees]: member i has the sources SrcOffsets()[i] to
// SrcOffsets()[i+1], without the latter. Any other graph is one member.
func (g *Graph) SrcOffsets() []int {
	if g.members == nil {
		return []int{0, g.NumSrc()}
	}
	return g.members.src
}

// DstOffsets returns the ranges of destinations, as [Graph.SrcOffsets] does
// those of sources.
func (g *Graph) DstOffsets() []int {
	if g.members == nil {
		return []int{0, g.NumDst()}
	}
	return g.members.dst
}

// NodeOffsets returns the ranges of nodes of the members of a homogeneous graph,
// as [Graph.SrcOffsets] does. It panics with a [*tensor.ShapeError] if g is
// bipartite.
func (g *Graph) NodeOffsets() []int {
	g.wantHomogeneous("graph.NodeOffsets")
	return g.DstOffsets()
}

// Membership returns the bipartite graph that leads from each node of a
// homogeneous graph to its member: to reduce over it is to read a batch out.
// Members are those of [Graph.NodeOffsets]; the list, and the order of the
// edges, is the nodes. Its Origin is zero. It panics with a
// [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Membership() *Graph {
	g.wantHomogeneous("graph.Membership")
	ends := g.NodeOffsets()
	offsets := make([]int64, len(ends))
	for i, n := range ends {
		offsets[i] = int64(n)
	}
	return ofCSR(g.NumDst(), offsets, iota32(g.NumDst()), true)
}

// EdgeMembership returns the bipartite graph that leads from each edge of g to
// its member, which is the one that the edge's destination belongs to: to reduce
// over it is to read the edges of a batch out. Members are those of
// [Graph.DstOffsets]; the list, and the order of the edges, is that of g's edges.
// Its Origin is zero.
func (g *Graph) EdgeMembership() *Graph {
	ends := g.DstOffsets()
	offsets := make([]int64, len(ends))
	for i, v := range ends {
		offsets[i] = int64(g.firstEdge(v))
	}
	return ofCSR(g.NumEdges(), offsets, iota32(g.NumEdges()), true)
}
