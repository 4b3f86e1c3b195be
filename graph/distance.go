package graph

import "fmt"

// AtDistance returns the graph of the pairs u, v whose shortest path from u to v has so
// many edges of g, an edge u→v for each: 1 are the edges themselves, without loops and each
// once. It keeps nothing of g but the nodes. The error says so if distance is not positive,
// or there are too many pairs. It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) AtDistance(distance int) (*Graph, error) {
	g.wantHomogeneous("graph.AtDistance")
	if distance < 1 {
		return nil, fmt.Errorf("graph: AtDistance %d: want 1 edge or more", distance)
	}
	n, in := g.NumNodes(), g.In()
	var src, dst []int32
	seen := make([]int32, n) // by which node's search, counted from 1
	for v := range int32(n) {
		seen[v] = v + 1
		ring := []int32{v}
		for range distance {
			var next []int32
			for _, w := range ring {
				for _, u := range in.Cols[in.Offsets[w]:in.Offsets[w+1]] {
					if seen[u] != v+1 {
						seen[u], next = v+1, append(next, u)
					}
				}
			}
			ring = next
		}
		for _, u := range ring {
			src, dst = append(src, u), append(dst, v)
		}
	}
	return New(n, src, dst)
}
