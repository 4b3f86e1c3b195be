package analysis

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
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
// [*tensor.ShapeError] if g is bipartite, or unless there is a weight for each edge.
func Matching(g *graph.Graph, rng *rand.Rand, weight []tensor.Float) ([]int32, error) {
	mistake.Homogeneous("analysis.Matching", g)
	if err := checkWeights("analysis.Matching", g, weight); err != nil {
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

// checkWeights checks that weights are some of g's edges. It panics in the name of op unless there are as many.
func checkWeights(op string, g *graph.Graph, weight []tensor.Float) error {
	if weight != nil {
		mistake.Length(op, "weights", len(weight), "edges", g.NumEdges())
	}
	for e, x := range weight {
		if !(x >= 0) || math.IsInf(float64(x), 1) {
			return fmt.Errorf("analysis: edge %d has the weight %v, want finite numbers from 0", e, x)
		}
	}
	return nil
}
