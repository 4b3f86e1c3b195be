package graph

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Block returns one hop of g: a bipartite graph whose destinations are the seeds,
// in the order given, with all their in-edges. Its sources are the seeds and
// then their other in-neighbours, ascending, so destination v is also source v.
// From().Src are the seeds of the block of the layer before:
//
//	last, err := g.Block(seeds)
//	first, err := g.Block(last.From().Src)
//
// Within a destination, edges keep g's order; the list is the block's own
// order. Kinds are kept. The error names a seed that is repeated or not a node.
// It panics with a [*tensor.ShapeError] if g's destinations are not sources
// ([Graph.DstRows] is nil).
func (g *Graph) Block(seeds []int32) (*Graph, error) {
	rows := g.DstRows()
	if rows == nil && g.bipartite {
		panic(&tensor.ShapeError{Op: "graph.Block", Shapes: [][]int{{g.NumSrc(), g.NumDst()}}, Why: "the graph's destinations are not sources"})
	}
	if err := g.checkRows("seed", seeds); err != nil {
		return nil, err
	}
	h := g.rows(seeds)
	src := gather(rows, seeds)
	number := make(map[int32]int32, 2*len(src)) // of g's sources, the block's
	for i, u := range src {
		number[u] = int32(i)
	}
	for _, u := range h.in.Cols {
		if _, ok := number[u]; !ok {
			number[u] = -1
			src = append(src, u)
		}
	}
	slices.Sort(src[len(seeds):])
	for i := len(seeds); i < len(src); i++ {
		number[src[i]] = int32(i)
	}
	for e, u := range h.in.Cols {
		h.in.Cols[e] = number[u]
	}
	h.in.NumCols = len(src)
	h.from.Src, h.dstRows = src, iota32(len(seeds))
	return h, nil
}

// Dst returns the bipartite graph whose destinations are rows, destinations of
// g, in the order given, and whose sources are all of g's under the same
// numbers. Within a destination, edges keep g's order; the list is the result's
// own order. Kinds are kept. The error names a row that is repeated or not a
// destination.
func (g *Graph) Dst(rows []int32) (*Graph, error) {
	if err := g.checkRows("row", rows); err != nil {
		return nil, err
	}
	h := g.rows(rows)
	h.from.Src = iota32(g.NumSrc())
	h.dstRows = gather(g.DstRows(), rows)
	return h, nil
}

// checkRows checks that rows are distinct destinations.
func (g *Graph) checkRows(what string, rows []int32) error {
	seen := make(map[int32]int, len(rows))
	for i, v := range rows {
		if v < 0 || int(v) >= g.NumDst() {
			return fmt.Errorf("graph: %s %d of %d is node %d, not in %s", what, i, len(rows), v, span(g.NumDst()))
		}
		if j, ok := seen[v]; ok {
			return fmt.Errorf("graph: %s %d of %d is node %d, as %s %d is", what, i, len(rows), v, what, j)
		}
		seen[v] = i
	}
	return nil
}

// rows returns the bipartite graph of the in-edges of the given destinations,
// without the Origin of its sources.
func (g *Graph) rows(rows []int32) *Graph {
	offsets := make([]int64, len(rows)+1)
	for i, v := range rows {
		offsets[i+1] = offsets[i] + int64(g.InDegree(int(v)))
	}
	edges := make([]int32, 0, offsets[len(rows)])
	for _, v := range rows {
		for e := g.in.Offsets[v]; e < g.in.Offsets[v+1]; e++ {
			edges = append(edges, int32(e))
		}
	}
	h := ofCSR(g.NumSrc(), offsets, gather(g.in.Cols, edges), true)
	h.kinds = gather(g.kinds, edges)
	h.from = Origin{Edges: edges, Dst: slices.Clone(rows)}
	return h
}
