package graph

import (
	"fmt"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// WithMembers returns g as a batch: member i has the nodes offsets[i] to offsets[i+1],
// without the latter, as [Graph.NodeOffsets] says afterwards. Members that g had are
// replaced. The error names an offset that is out of order, or the first edge that leads
// from one member to another. It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) WithMembers(offsets []int) (*Graph, error) {
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
// [Batch] of what [Graph.Unbatch] returns, without a graph for each. The error names a
// member that there is none of. It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Members(which []int32) (*Graph, error) {
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
		if err := checkCounts(nodes, nodes, edges); err != nil {
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
