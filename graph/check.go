package graph

import (
	"fmt"
	"strings"
)

// Report lists what is legal in a graph and yet often a mistake. A destination
// without in-edges receives no messages, so layers give it their bias alone.
type Report struct {
	NoIn      []int32 // destinations without in-edges, ascending
	NoOut     []int32 // sources without out-edges, ascending
	Isolated  []int32 // nodes of a homogeneous graph without either, ascending
	SelfLoops int     // edges from a node to itself; 0 if bipartite
	Parallel  int     // edges that repeat an earlier one from the same source to the same destination
}

// Check returns what may be wrong with g. None of it is an error.
func (g *Graph) Check() Report {
	var r Report
	out, _ := g.Out()
	r.NoIn = emptyRows(g.In().Offsets)
	r.NoOut = emptyRows(out.Offsets)
	seen := make([]int32, g.NumSrc()) // the last destination, plus one, that had this source
	for v := range g.NumDst() {
		for _, u := range g.sources(v) {
			if !g.top().bipartite && int(u) == v {
				r.SelfLoops++
			}
			if seen[u] == int32(v)+1 {
				r.Parallel++
			}
			seen[u] = int32(v) + 1
		}
	}
	if g.top().bipartite {
		return r
	}
	for _, v := range r.NoIn {
		if g.OutDegree(int(v)) == 0 {
			r.Isolated = append(r.Isolated, v)
		}
	}
	return r
}

// String returns the report as warnings, one a line, or "" if there is nothing
// to warn of. Self-loops alone are not: they are data.
func (r Report) String() string {
	var lines []string
	if n := len(r.NoIn); n > 0 {
		lines = append(lines, fmt.Sprintf("%d nodes have no in-edges and receive no messages (first: %d); add self-loops?", n, r.NoIn[0]))
	}
	if n := len(r.Isolated); n > 0 {
		lines = append(lines, fmt.Sprintf("%d nodes have no edges at all (first: %d)", n, r.Isolated[0]))
	}
	if r.Parallel > 0 {
		lines = append(lines, fmt.Sprintf("%d edges repeat another edge and count again", r.Parallel))
	}
	return strings.Join(lines, "\n")
}

// Roots returns the nodes of a homogeneous graph without in-edges, ascending.
// It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Roots() []int32 {
	g.wantHomogeneous("graph.Roots")
	return emptyRows(g.In().Offsets)
}

// Sinks returns the nodes of a homogeneous graph without out-edges, ascending.
// It panics with a [*tensor.ShapeError] if g is bipartite.
func (g *Graph) Sinks() []int32 {
	g.wantHomogeneous("graph.Sinks")
	out, _ := g.Out()
	return emptyRows(out.Offsets)
}

// emptyRows returns the rows of a CSR that have no nonzeros.
func emptyRows(offsets []int64) []int32 {
	var rows []int32
	for i := range len(offsets) - 1 {
		if offsets[i] == offsets[i+1] {
			rows = append(rows, int32(i))
		}
	}
	return rows
}
