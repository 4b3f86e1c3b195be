package message

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SoftmaxRelations normalises the messages of several relations together: over
// all edges into a destination, whatever relation they are of. It returns, for
// each relation, a row for each of its edges in its graph's order. How a relation
// is reduced is not asked.
//
// [UpdateRelations] by [Sum], of U(x) times E of these weights, is attention over
// a heterogeneous graph. A destination's entries that are all −∞ weigh zero.
func SoftmaxRelations(rels ...Relation) []*grad.Var {
	const op = "message.SoftmaxRelations"
	if len(rels) == 0 {
		panic(&grad.TapeError{Op: op, Why: "no relation"})
	}
	zs := make([]*grad.Var, len(rels))
	for i, r := range rels {
		zs[i] = applyEdges(op, r.Graph, r.Msg)
		if r.Graph.NumDst() != rels[0].Graph.NumDst() || !slices.Equal(zs[i].Shape()[1:], zs[0].Shape()[1:]) {
			panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(zs[0].Shape()), slices.Clone(zs[i].Shape())},
				Why: fmt.Sprintf("relation %d has %d destinations, the first %d, and all want messages of one shape", i, r.Graph.NumDst(), rels[0].Graph.NumDst())})
		}
	}
	if len(rels) == 1 {
		return []*grad.Var{EdgeSoftmax(rels[0].Graph, zs[0])}
	}
	to := joinRelations(rels)
	all := EdgeSoftmax(to.g, grad.ConcatAxis(0, zs...).Permute(to.order, to.rank)).Permute(to.rank, to.order)
	ys, at := make([]*grad.Var, len(rels)), 0
	for i, r := range rels {
		ys[i] = all.RowRange(at, at+r.Graph.NumEdges())
		at += r.Graph.NumEdges()
	}
	return ys
}

// joinedRelations are the edges of several relations, sorted by destination.
type joinedRelations struct {
	g           *graph.Graph // whose sources mean nothing
	order, rank []int32      // from the edges of one relation after the other, and back
}

// joinKey tells relations apart by their graphs, of which the first keeps what is
// made of them; more than these are joined again each time.
type joinKey [8]*graph.Graph

// joinRelations sorts the edges of relations, once for these graphs.
func joinRelations(rels []Relation) *joinedRelations {
	var key joinKey
	if len(rels) > len(key) {
		return newJoinedRelations(rels)
	}
	for i, r := range rels {
		key[i] = r.Graph
	}
	return graph.Derive(rels[0].Graph, key, func() *joinedRelations { return newJoinedRelations(rels) })
}

func newJoinedRelations(rels []Relation) *joinedRelations {
	n, edges := rels[0].Graph.NumDst(), 0
	for _, r := range rels {
		edges += r.Graph.NumEdges()
	}
	to := &joinedRelations{order: make([]int32, 0, edges), rank: make([]int32, edges)}
	in := &sparse.CSR{NumRows: n, NumCols: 1, Offsets: make([]int64, 1, n+1), Cols: make([]int32, edges)}
	for v := range n {
		first := int32(0)
		for _, r := range rels {
			off := r.Graph.In().Offsets
			for e := off[v]; e < off[v+1]; e++ {
				to.rank[first+int32(e)] = int32(len(to.order))
				to.order = append(to.order, first+int32(e))
			}
			first += int32(r.Graph.NumEdges())
		}
		in.Offsets = append(in.Offsets, int64(len(to.order)))
	}
	to.g = graph.Must(graph.FromCSR(in))
	return to
}
