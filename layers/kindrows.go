package layers

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
)

// kindRows is a graph in which a node is a source once for each kind of its out-edges: what
// a matrix of that kind makes of it, and no more, is computed.
type kindRows struct {
	graph *graph.Graph // whose edges are in the order of the graph's that it was made of
	nodes []int32      // of each source, kind by kind, ascending in each
	ends  []int        // of each kind among the sources
}

// times returns the product of each source with the matrix of its kind, of those in w.
func (r *kindRows) times(x, w *grad.Var) *grad.Var {
	if !x.IsSparse() {
		return x.Rows(r.nodes).MatMulGroups(w, r.ends)
	}
	var parts []*grad.Var
	first := 0
	for k, end := range r.ends {
		if end > first {
			parts = append(parts, x.Rows(r.nodes[first:end]).MatMul(w.RowRange(k, k+1).Reshape(w.Dim(1), w.Dim(2))))
		}
		first = end
	}
	return grad.ConcatAxis(0, parts...)
}

type kindRowsKey struct {
	kinds *int32
	n     int
}

// kindRowsOf returns that of g, whose edges have n kinds. It is worked out once a graph.
func kindRowsOf(g *graph.Graph, n int) *kindRows {
	return graph.Derive(g, kindRowsKey{kindsOf(g), n}, func() *kindRows {
		in, kinds := g.In(), g.Kinds()
		edges := make([][]int32, n) // of each kind
		for e, k := range kinds {
			edges[k] = append(edges[k], int32(e))
		}
		r := &kindRows{}
		cols, number := make([]int32, len(kinds)), make([]int32, g.NumSrc())
		for _, of := range edges {
			first := len(r.nodes)
			for _, e := range of {
				r.nodes = append(r.nodes, in.Cols[e])
			}
			slices.Sort(r.nodes[first:])
			r.nodes = append(r.nodes[:first], slices.Compact(r.nodes[first:])...)
			for i, u := range r.nodes[first:] {
				number[u] = int32(first + i)
			}
			for _, e := range of {
				cols[e] = number[in.Cols[e]]
			}
			r.ends = append(r.ends, len(r.nodes))
		}
		r.graph = graph.Must(graph.NewBipartite(len(r.nodes), g.NumDst(), cols, g.Destinations()))
		return r
	})
}
