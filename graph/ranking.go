package graph

import (
	"math"

	"gonum.org/v1/gonum/graph/topo"
)

// pageRankError is how far a rank may be from its limit on average, and pageRankRounds how
// many rounds there are at most: as many as a damping of 0.997 takes.
const (
	pageRankError  = 1e-9
	pageRankRounds = 10_000
)

// PageRank returns how often a reader who follows edges visits each node. With probability
// 1 − damping the reader starts again at a random node of the same member instead. A reader
// whose node has no edge out of it always does. A damping of 0.85 is usual; it must be at
// least 0 and less than 1. The numbers are those of gonum's network.PageRankSparse times the number of
// nodes: their mean is 1, and a member of a batch has the same as alone. Parallel edges count
// as one. The ranks start equal, so that they are the same each time; gonum's start at random.
//
// Ranks are wrong by 1e-9 on average; a damping above 0.997 is stopped earlier. 20,000 nodes
// and 200,000 edges take 9 ms, and gonum's PageRankSparse 82. It panics with a
// [*tensor.ShapeError] if g is bipartite.
func PageRank(g *Graph, damping float64) []float64 {
	g.wantHomogeneous("graph.PageRank")
	ranks, at := make([]float64, g.NumNodes()), g.NodeOffsets()
	out, _ := g.Out()
	to, offsets := make([]int32, 0, len(out.Cols)), make([]int, 1, len(ranks)+1)
	for u := range ranks {
		for k := out.Offsets[u]; k < out.Offsets[u+1]; k++ {
			if v := out.Cols[k]; k == out.Offsets[u] || v != out.Cols[k-1] { // destinations ascend
				to = append(to, v)
			}
		}
		ranks[u], offsets = 1, append(offsets, len(to))
	}
	next := make([]float64, len(ranks))
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

// CoreNumbers returns the largest k for each node so that it is in a part of the graph in
// which all nodes have at least k neighbours: 0 alone, 1 in a tree, n − 1 in a clique of n. Directions,
// loops and parallel edges do not count. It is gonum's topo.DegeneracyOrdering on a view of g.
//
// 20,000 nodes and 200,000 edges take 0.16 s, and in a graph of gonum's own 0.17 s. It panics
// with a [*tensor.ShapeError] if g is bipartite.
func CoreNumbers(g *Graph) []int32 {
	g.wantHomogeneous("graph.CoreNumbers")
	numbers := make([]int32, g.NumNodes())
	view, err := g.WithoutSelfLoops().Undirected().GonumUndirected()
	if err != nil {
		panic(err) // cannot be: each edge has one back
	}
	_, cores := topo.DegeneracyOrdering(view)
	for k, nodes := range cores {
		for _, n := range nodes {
			numbers[n.ID()] = int32(k)
		}
	}
	return numbers
}
