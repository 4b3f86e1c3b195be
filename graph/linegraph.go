package graph

import (
	"fmt"
	"math"
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
func (g *Graph) LineGraph() (*Graph, error) {
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
