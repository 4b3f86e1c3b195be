package graph

import (
	"fmt"
	"math"
)

// AtDistance returns the graph of the pairs u, v whose shortest path from u to v has so
// many edges of g, an edge u→v for each: 1 are the edges themselves, without loops and each
// once. It keeps nothing of g but the nodes. The error says so if distance is not positive,
// or there are too many pairs, which are counted first: a node of 50,000 neighbours joins each
// two of them. It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) AtDistance(distance int) (*Graph, error) {
	return g.atDistance(distance, math.MaxInt32)
}

// atDistance is AtDistance of at most so many pairs.
func (g *Graph) atDistance(distance, most int) (*Graph, error) {
	g.wantHomogeneous("graph.AtDistance")
	if distance < 1 {
		return nil, fmt.Errorf("graph: AtDistance %d: want 1 edge or more", distance)
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
