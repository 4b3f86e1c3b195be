package message

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Readout reduces the nodes of each member of a batch: x has a row for each
// node, the result one for each member of [graph.Membership]. A member
// without nodes gets zero. A graph that is no batch is one of one member, so its
// result has one row.
func Readout(g *graph.Graph, x *grad.Var, rs ...Reducer) *grad.Var {
	const op = "message.Readout"
	return updateAll(op, membership(op, g, x), U(x), rs)
}

// ReadoutSoftmax is the sum of the nodes of each member of a batch, weighted by a
// softmax of score over them: one column, or one that broadcasts with x.
func ReadoutSoftmax(g *graph.Graph, x, score *grad.Var) *grad.Var {
	const op = "message.ReadoutSoftmax"
	return updateAll(op, membership(op, g, x, score), U(x).Mul(U(score).Softmax()), sums)
}

// membership returns the graph from nodes to members, for xs that have a row for
// each node.
func membership(op string, g *graph.Graph, xs ...*grad.Var) *graph.Graph {
	given(op, g)
	if g.Bipartite() {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{g.NumSrc(), g.NumDst()}}, Why: "the graph is bipartite, so its nodes have no members; read out over the graph that it is a part of"})
	}
	for _, x := range xs {
		wantRows(op, "x or score", x, g.NumNodes(), "nodes")
	}
	return graph.Membership(g)
}
