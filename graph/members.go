package graph

import (
	"fmt"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
	"github.com/edgewise-ml/edgewise/internal/par"
)

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
func Membership(g *Graph) *Graph {
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
func EdgeMembership(g *Graph) *Graph {
	mistake.Nil("graph.EdgeMembership", g)
	ends := g.DstOffsets()
	offsets := make([]int64, len(ends))
	for i, v := range ends {
		offsets[i] = int64(g.firstEdge(v))
	}
	return ofCSR(g.NumEdges(), offsets, iota32(g.NumEdges()), true)
}

// WithMembers returns g as a batch: member i has the nodes offsets[i] to offsets[i+1],
// without the latter, as [Graph.NodeOffsets] says afterwards. Members that g had are
// replaced. The error names an offset that is out of order, or the first edge that leads
// from one member to another. It panics with a [*tensor.ShapeError] if g is bipartite.
func WithMembers(g *Graph, offsets []int) (*Graph, error) {
	g.wantHomogeneous("graph.WithMembers")
	n := g.NumDst()
	if len(offsets) == 0 || offsets[0] != 0 || offsets[len(offsets)-1] != n {
		return nil, fmt.Errorf("graph: offsets of members go from 0 to the %d nodes of the graph", n)
	}
	for i, o := range offsets[1:] {
		if o < offsets[i] {
			return nil, fmt.Errorf("graph: offset %d of the members is %d, after %d; want ascending ones", i+1, o, offsets[i])
		}
	}
	for i, o := range offsets[1:] {
		for v := offsets[i]; v < o; v++ {
			for e, u := range g.Sources(v) {
				if int(u) < offsets[i] || int(u) >= o {
					return nil, fmt.Errorf("graph: edge %d, from %d to %d, leads from one member to another", e, u, v)
				}
			}
		}
	}
	h := *g
	own := slices.Clone(offsets)
	h.members = &members{src: own, dst: own}
	return &h, nil
}

// Members returns the batch of some of g's members, in the order given; one that is named
// twice is there twice. From() leads to the nodes and edges of g, so that their rows are
// carried over by one gather. Kinds are kept; the list is the result's own order. It is
// [Batch] of what [Unbatch] returns, without a graph for each. The error names a
// member that there is none of. It panics with a [*tensor.ShapeError] if g is bipartite.
func Members(g *Graph, which []int32) (*Graph, error) {
	g.wantHomogeneous("graph.Members")
	at := g.NodeOffsets()
	nodes, edges := 0, 0
	in := g.In()
	own, firsts := make([]int, 1, len(which)+1), make([]int64, len(which)) // nodes and edges before each
	for i, m := range which {
		if m < 0 || int(m) >= len(at)-1 {
			return nil, fmt.Errorf("graph: entry %d is member %d, of %d", i, m, len(at)-1)
		}
		firsts[i] = int64(edges)
		nodes += at[m+1] - at[m]
		edges += int(in.Offsets[at[m+1]] - in.Offsets[at[m]])
		own = append(own, nodes)
		if err := mistake.Counts(nodes, nodes, edges); err != nil {
			return nil, err
		}
	}
	offsets, cols, from := make([]int64, nodes+1), make([]int32, edges), make([]int32, nodes)
	par.For(len(which), membersGrain(len(which), nodes+edges), func(begin, end int) {
		for i := begin; i < end; i++ {
			lo, hi := at[which[i]], at[which[i]+1]
			first, next := in.Offsets[lo], in.Offsets[hi]
			shift, to, list := firsts[i]-first, offsets[own[i]+1:own[i+1]+1], from[own[i]:own[i+1]]
			for v, o := range in.Offsets[lo+1 : hi+1] {
				to[v], list[v] = o+shift, int32(lo+v)
			}
			shiftInto(cols[firsts[i]:], in.Cols[first:next], own[i]-lo)
		}
	})
	h := ofCSR(nodes, offsets, cols, false)
	h.In().DiagonalOf(in)
	h.members, h.from = &members{src: own, dst: own}, Origin{Src: from, Dst: from}
	which = slices.Clone(which)
	h.fromEdges = sync.OnceValue(func() []int32 {
		list := make([]int32, 0, edges)
		for _, m := range which {
			list = interval(list, int(in.Offsets[at[m]]), int(in.Offsets[at[m+1]]))
		}
		return list
	})
	if g.kinds != nil {
		h.kinds = gather(g.kinds, h.fromEdges())
	}
	return h, nil
}

// membersGrain is how many of n members, with so many nodes and edges in all, a thread copies
// at a time.
func membersGrain(n, all int) int {
	const enough = 1 << 12 // of them, which take some microseconds
	return max(1, n*enough/max(1, all))
}

// WithVirtualNodes returns g with one more node in each member, the member's last, which has
// an edge to each other node of it and one from it: two steps lead from each node to each
// other. From() has −1 for the nodes and edges that are new. Kinds are kept if there are
// any: edges to a virtual node have the kind after the largest, those from it the next. The
// list is the result's own order. It panics with a [*tensor.ShapeError] if g is bipartite,
// or there are too many edges.
func WithVirtualNodes(g *Graph) *Graph {
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
