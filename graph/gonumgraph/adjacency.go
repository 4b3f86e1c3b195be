package gonumgraph

import (
	"slices"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
)

// adjacency is a graph without parallel edges, in the form that views walk.
type adjacency struct {
	nodes   []gonum.Node
	in, out *sparse.CSR // columns ascend within a row and differ
	first   []int32     // where each edge of g stands in out
}

// newAdjacency makes what the views of g walk.
func newAdjacency(g *graph.Graph) *adjacency {
	a := &adjacency{nodes: make([]gonum.Node, g.NumNodes()), first: make([]int32, g.NumEdges())}
	for v := range a.nodes {
		a.nodes[v] = simple.Node(v)
	}
	out, edges := g.Out()
	a.out = &sparse.CSR{Offsets: make([]int64, 1, len(a.nodes)+1), NumRows: len(a.nodes), NumCols: len(a.nodes)}
	for u := range a.nodes {
		row := len(a.out.Cols)
		for k := out.Offsets[u]; k < out.Offsets[u+1]; k++ { // ascending: edges are by destination
			if n := len(a.out.Cols); n == row || a.out.Cols[n-1] != out.Cols[k] {
				a.out.Cols = append(a.out.Cols, out.Cols[k])
			}
			a.first[edges[k]] = int32(len(a.out.Cols) - 1)
		}
		a.out.Offsets = append(a.out.Offsets, int64(len(a.out.Cols)))
	}
	a.in, _ = a.out.Transpose()
	return a
}

// row returns row id of m, one of the two sides; empty if there is no such node.
func (a *adjacency) row(m *sparse.CSR, id int64) []int32 {
	if id < 0 || id >= int64(len(a.nodes)) {
		return nil
	}
	return m.Cols[m.Offsets[id]:m.Offsets[id+1]]
}

// walk returns the nodes of row id of m.
func (a *adjacency) walk(m *sparse.CSR, id int64) gonum.Nodes {
	row := a.row(m, id)
	if len(row) == 0 {
		return gonum.Empty
	}
	return &neighbours{nodes: a.nodes, row: row, at: -1}
}

// find returns the place of an edge in out.
func (a *adjacency) find(uid, vid int64) (k int64, ok bool) {
	row := a.row(a.out, uid)
	if vid != int64(int32(vid)) {
		return 0, false
	}
	i, ok := slices.BinarySearch(row, int32(vid))
	if !ok {
		return 0, false
	}
	return a.out.Offsets[uid] + int64(i), true
}

// neighbours is an iterator over the nodes of a row.
type neighbours struct {
	nodes []gonum.Node
	row   []int32
	at    int
}

// Next moves on.
func (n *neighbours) Next() bool {
	n.at = min(n.at+1, len(n.row))
	return n.at < len(n.row)
}

// Len returns how many are left.
func (n *neighbours) Len() int { return len(n.row) - min(n.at+1, len(n.row)) }

// Reset goes back to the start.
func (n *neighbours) Reset() { n.at = -1 }

// Node returns the node it stands at.
func (n *neighbours) Node() gonum.Node {
	if n.at < 0 || n.at >= len(n.row) {
		return nil
	}
	return n.nodes[n.row[n.at]]
}

// NodeSlice returns the nodes that are left, and moves to the end.
func (n *neighbours) NodeSlice() []gonum.Node {
	left := n.row[len(n.row)-n.Len():]
	nodes := make([]gonum.Node, len(left))
	for i, v := range left {
		nodes[i] = n.nodes[v]
	}
	n.at = len(n.row)
	return nodes
}
