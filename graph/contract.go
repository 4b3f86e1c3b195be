package graph

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Matching puts nodes in pairs that edges join closely, and returns the cluster of each
// node: a pair, or a node that was left over. It is the greedy coarsening of Graclus, as
// Defferrard, Bresson and Vandergheynst use it for pooling ("Convolutional Neural Networks on
// Graphs with Fast Localized Spectral Filtering", NeurIPS 2016): of the nodes in random
// order, each that has no partner takes the neighbour without one to which
//
//	w_uv·(1/d_u + 1/d_v)
//
// is largest, of equals the lowest. w_uv is the sum of the weights of the edges from u to v and
// from v to u, d_v that of all of v; weights are in g's order, nil: 1, and loops do not
// count. Clusters are numbered by their lowest nodes, and never leave a member. The same
// generator gives the same clusters.
//
// The error names a weight that is negative or not finite. It panics with a
// [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Matching(rng *rand.Rand, weight []tensor.Float) ([]int32, error) {
	g.wantHomogeneous("graph.Matching")
	if err := g.checkWeights(weight); err != nil {
		return nil, err
	}
	n := g.NumNodes()
	of := func(e int32) float64 {
		if weight == nil {
			return 1
		}
		return float64(weight[e])
	}
	degree, partner := make([]float64, n), make([]int32, n)
	for v := range n {
		partner[v] = -1
		for e, u := range g.Sources(v) {
			if int(u) != v {
				degree[v] += of(e)
				degree[u] += of(e)
			}
		}
	}
	joined, near := make([]float64, n), []int32(nil)
	meet := func(v, u, e int32) {
		if w := of(e); u != v && partner[u] < 0 && w > 0 {
			if joined[u] == 0 {
				near = append(near, u)
			}
			joined[u] += w
		}
	}
	for _, i := range rng.Perm(n) {
		v := int32(i)
		if partner[v] >= 0 {
			continue
		}
		partner[v] = v
		near = near[:0]
		for e, u := range g.Sources(i) {
			meet(v, u, e)
		}
		for e, u := range g.Targets(i) {
			meet(v, u, e)
		}
		best := 0.0
		for _, u := range near {
			if cut := joined[u] * (1/degree[u] + 1/degree[v]); cut > best || cut == best && u < partner[v] {
				best, partner[v] = cut, u
			}
			joined[u] = 0
		}
		partner[partner[v]] = v
	}
	cluster, count := make([]int32, n), int32(0)
	for v := range n {
		if u := int(partner[v]); u < v {
			cluster[v] = cluster[u]
		} else {
			cluster[v] = count
			count++
		}
	}
	return cluster, nil
}

// checkWeights checks that weights are some of g's edges.
func (g *Graph) checkWeights(weight []tensor.Float) error {
	if weight != nil && len(weight) != g.NumEdges() {
		return fmt.Errorf("graph: %d weights for %d edges", len(weight), g.NumEdges())
	}
	for e, x := range weight {
		if !(x >= 0) || math.IsInf(float64(x), 1) {
			return fmt.Errorf("graph: edge %d has the weight %v, want finite numbers from 0", e, x)
		}
	}
	return nil
}

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
// [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Contract(cluster []int32) (h *Graph, into []int32, err error) {
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
	h, _, part := several.Coalesce()
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
	if len(cluster) != n {
		return nil, nil, fmt.Errorf("graph: %d clusters for %d nodes, want one of each", len(cluster), n)
	}
	most := int32(-1)
	for v, c := range cluster {
		if c < 0 || int(c) >= n {
			return nil, nil, fmt.Errorf("graph: node %d is in cluster %d, not in %s", v, c, span(n))
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
