package analysis

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// pageRankError is how far a rank may be from its limit on average, and pageRankRounds how
// many rounds there are at most: as many as a damping of 0.997 takes.
const (
	pageRankError  = 1e-9
	pageRankRounds = 10_000
)

// PageRank returns how often a reader who follows edges visits each node. With probability
// 1 − damping the reader starts again at a random node of the same member instead. A reader
// whose node has no edge out of it always does. A damping of 0.85 is usual. The numbers are those of gonum's network.PageRankSparse times the number of
// nodes: their mean is 1, and a member of a batch has the same as alone. Parallel edges count
// as one. The ranks start equal, so that they are the same each time; gonum's start at random.
//
// Ranks are wrong by 1e-9 on average; a damping above 0.997 is stopped earlier. 20,000 nodes
// and 200,000 edges take 9 ms, and gonum's PageRankSparse 82. It panics with a
// [*tensor.ShapeError] if g is bipartite, or damping is not from 0 to less than 1.
func PageRank(g *graph.Graph, damping float64) []float64 {
	mistake.Homogeneous("analysis.PageRank", g)
	if !(damping >= 0 && damping < 1) {
		mistake.Panic("analysis.PageRank", nil, "a damping of %v, want a number from 0 to less than 1", damping)
	}
	at := g.NodeOffsets()
	offsets, to := distinctTargets(g)
	ranks, next := make([]float64, g.NumNodes()), make([]float64, g.NumNodes())
	for v := range ranks {
		ranks[v] = 1
	}
	for m := range len(at) - 1 {
		lo, hi := at[m], at[m+1]
		nodes := float64(hi - lo)
		for range pageRankRounds {
			stuck := 0.0 // readers without an edge to follow
			clear(next[lo:hi])
			for u := lo; u < hi; u++ {
				targets := to[offsets[u]:offsets[u+1]]
				if len(targets) == 0 {
					stuck += ranks[u]
				}
				each := ranks[u] / float64(len(targets))
				for _, v := range targets {
					next[v] += each
				}
			}
			moved := 0.0
			for v := lo; v < hi; v++ {
				r := 1 - damping + damping*(next[v]+stuck/nodes)
				moved += math.Abs(r - ranks[v])
				ranks[v] = r
			}
			if damping*moved <= pageRankError*(1-damping)*nodes { // what all later rounds move is less
				break
			}
		}
	}
	return ranks
}

// distinctTargets returns the nodes that each node has edges to, those of node u from
// offsets[u] on: each once, however many edges are parallel.
func distinctTargets(g *graph.Graph) (offsets []int, to []int32) {
	out, _ := g.Out()
	to, offsets = make([]int32, 0, len(out.Cols)), make([]int, 1, g.NumNodes()+1)
	for u := range g.NumNodes() {
		for k := out.Offsets[u]; k < out.Offsets[u+1]; k++ {
			if v := out.Cols[k]; k == out.Offsets[u] || v != out.Cols[k-1] { // destinations ascend
				to = append(to, v)
			}
		}
		offsets = append(offsets, len(to))
	}
	return offsets, to
}

// CoreNumbers returns the largest k for each node so that it is in a part of the graph in
// which all nodes have at least k neighbours: 0 alone, 1 in a tree, n − 1 in a clique of n. Directions,
// loops and parallel edges do not count. The numbers are those of gonum's topo.DegeneracyOrdering,
// by the method of Batagelj and Zaversnik (2003), whose time goes with nodes and edges: gonum's
// goes with the square of the nodes where many have few neighbours.
//
// 20,000 nodes and 200,000 edges take 13 ms, and gonum's function 160. It panics
// with a [*tensor.ShapeError] if g is bipartite.
func CoreNumbers(g *graph.Graph) []int32 {
	mistake.Homogeneous("analysis.CoreNumbers", g)
	offsets, to := distinctTargets(graph.Undirected(graph.WithoutSelfLoops(g)))
	cores := make([]int32, g.NumNodes()) // at first how many neighbours a node has
	start := make([]int, len(cores)+1)   // where in order those with so many neighbours begin
	for v := range cores {
		cores[v] = int32(offsets[v+1] - offsets[v])
		start[cores[v]+1]++
	}
	for k := range cores {
		start[k+1] += start[k]
	}
	order, place := make([]int32, len(cores)), make([]int, len(cores))
	free := slices.Clone(start)
	for v, k := range cores {
		order[free[k]], place[v] = int32(v), free[k]
		free[k]++
	}
	for i := range order { // the node that has the fewest neighbours left is taken away
		v := order[i]
		for _, u := range to[offsets[v]:offsets[v+1]] {
			if k := cores[u]; k > cores[v] { // u loses one, and changes places with the first that has as many
				first := order[start[k]]
				order[start[k]], order[place[u]] = u, first
				place[first], place[u] = place[u], start[k]
				start[k]++
				cores[u]--
			}
		}
	}
	return cores
}
