package graph

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/graph/internal/mistake"
)

// LineGraph returns the graph whose nodes are g's edges, under their numbers,
// with an edge from each edge u → v to each edge v → w: messages between edges
// that follow one another. One back along a parallel or reversed edge is
// included, and a self-loop follows itself. Sources ascend within a
// destination, and the list is its own order. Its nodes are edges of g and its
// edges are new, so its Origin is zero.
//
// The error says that there are more than 2³¹−1 edges. It panics with a
// [*tensor.ShapeError] if g is bipartite.
func LineGraph(g *Graph) (*Graph, error) {
	g.wantHomogeneous("graph.LineGraph")
	in := g.In()
	offsets := make([]int64, 1, g.NumEdges()+1)
	for _, v := range in.Cols {
		offsets = append(offsets, offsets[len(offsets)-1]+int64(g.InDegree(int(v))))
	}
	if n := offsets[g.NumEdges()]; n > math.MaxInt32 {
		return nil, fmt.Errorf("graph: the line graph of %v has %d edges, at most %d", g, n, math.MaxInt32)
	}
	cols := make([]int32, 0, offsets[g.NumEdges()])
	for _, v := range in.Cols {
		cols = interval(cols, int(in.Offsets[v]), int(in.Offsets[v+1]))
	}
	return ofCSR(g.NumEdges(), offsets, cols, false), nil
}

// AtDistance returns the graph of the pairs u, v whose shortest path from u to v has so
// many edges of g, an edge u→v for each: 1 are the edges themselves, without loops and each
// once. It keeps nothing of g but the nodes. The error says so if there are too many
// pairs, which are counted first: a node of 50,000 neighbours joins each two of them. It panics with a
// [*tensor.ShapeError] if g is bipartite or distance is not positive.
func AtDistance(g *Graph, distance int) (*Graph, error) {
	return g.atDistance(distance, math.MaxInt32)
}

// atDistance is AtDistance of at most so many pairs.
func (g *Graph) atDistance(distance, most int) (*Graph, error) {
	g.wantHomogeneous("graph.AtDistance")
	if distance < 1 {
		mistake.Panic("graph.AtDistance", []int{g.NumNodes()}, "a distance of %d, want 1 edge or more", distance)
	}
	pairs := 0
	g.eachRing(distance, func(_ int32, ring []int32) { pairs += len(ring) })
	if pairs > most {
		return nil, fmt.Errorf("graph: AtDistance %d: there are %d pairs of nodes, and a graph has at most %d edges", distance, pairs, most)
	}
	src, dst := make([]int32, 0, pairs), make([]int32, 0, pairs)
	g.eachRing(distance, func(v int32, ring []int32) {
		for _, u := range ring {
			src, dst = append(src, u), append(dst, v)
		}
	})
	return New(g.NumNodes(), src, dst)
}

// eachRing calls f for each node with those from which the shortest path to it has so many edges.
func (g *Graph) eachRing(distance int, f func(v int32, ring []int32)) {
	n, in := g.NumNodes(), g.In()
	seen := make([]int32, n) // by which node's search, counted from 1
	var ring, next []int32
	for v := range int32(n) {
		seen[v] = v + 1
		ring = append(ring[:0], v)
		for range distance {
			next = next[:0]
			for _, w := range ring {
				for _, u := range in.Cols[in.Offsets[w]:in.Offsets[w+1]] {
					if seen[u] != v+1 {
						seen[u], next = v+1, append(next, u)
					}
				}
			}
			ring, next = next, ring
		}
		f(v, ring)
	}
}
