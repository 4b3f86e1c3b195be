package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// Contract returns the graph whose nodes are clusters of g's nodes: cluster[v] is that of
// node v, from 0 up without gaps. Edges within a cluster go, and edges of the same ends, and
// kind if there are kinds, become one. into holds for each edge of g the edge of h that it is
// a part of, or −1:
//
//	for e, k := range into {
//		if k >= 0 {
//			sum[k] += weight[e] // weights of g's edges become those of h's
//		}
//	}
//
// From() has the first of the edges and of the nodes that became one; the list is h's own
// order. Members are kept. The error names a cluster that is negative, or empty, or has nodes
// of two members, or comes before those of an earlier member. It panics with a
// [*tensor.ShapeError] if g is bipartite, or unless there is a cluster for each node.
func Contract(g *Graph, cluster []int32) (h *Graph, into []int32, err error) {
	g.wantHomogeneous("graph.Contract")
	first, ends, err := g.clusters(cluster)
	if err != nil {
		return nil, nil, err
	}
	var l list
	for e, v := range g.Destinations() {
		u := g.In().Cols[e]
		if cluster[u] == cluster[v] {
			continue
		}
		l.src, l.dst, l.parent = append(l.src, cluster[u]), append(l.dst, cluster[v]), append(l.parent, int32(e))
		if g.kinds != nil {
			l.kinds = append(l.kinds, g.kinds[e])
		}
	}
	several := l.sorted(len(first), len(first))
	h, _, part := Coalesce(several)
	into = make([]int32, g.NumEdges())
	for e := range into {
		into[e] = -1
	}
	for k, e := range several.from.Edges {
		into[e] = part[k]
	}
	h.order, h.listOrder = nil, nil
	h.from = Origin{Edges: gather(several.from.Edges, h.from.Edges), Src: first, Dst: first}
	if g.members != nil {
		h.members = &members{src: ends, dst: ends}
	}
	return h, into, nil
}

// clusters returns the first node of each cluster, and where the members of the clusters end.
func (g *Graph) clusters(cluster []int32) (first []int32, ends []int, err error) {
	n, at := g.NumNodes(), g.NodeOffsets()
	mistake.Length("graph.Contract", "clusters", len(cluster), "nodes", n)
	most := int32(-1)
	for v, c := range cluster {
		if c < 0 || int(c) >= n {
			return nil, nil, fmt.Errorf("graph: node %d is in cluster %d, not in %s", v, c, mistake.Range(n))
		}
		most = max(most, c)
	}
	first = make([]int32, most+1)
	for c := range first {
		first[c] = -1
	}
	ends = make([]int, 1, len(at))
	for m := range len(at) - 1 {
		end := ends[m]
		for v := at[m]; v < at[m+1]; v++ {
			c := cluster[v]
			if int(c) < ends[m] {
				return nil, nil, fmt.Errorf("graph: cluster %d has a node of member %d, %d, and is among those of an earlier member", c, m, v)
			}
			end = max(end, int(c)+1)
			if first[c] < 0 {
				first[c] = int32(v)
			}
		}
		ends = append(ends, end)
	}
	for c, v := range first {
		if v < 0 {
			return nil, nil, fmt.Errorf("graph: no node is in cluster %d, of %d", c, len(first))
		}
	}
	return first, ends, nil
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
func Coalesce(g *Graph) (h *Graph, counts, into []int32) {
	mistake.Nil("graph.Coalesce", g)
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
