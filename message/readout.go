package message

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
)

// Readout reduces the nodes of each member of a batch: x has a row for each
// node, the result one for each member of [graph.Graph.Membership]. A member
// without nodes gets zero.
func Readout(g *graph.Graph, x *grad.Var, rs ...Reducer) *grad.Var {
	return UpdateAll(g.Membership(), U(x), rs...)
}

// ReadoutSoftmax is the sum of the nodes of each member of a batch, weighted by a
// softmax of score over them: one column, or one that broadcasts with x.
func ReadoutSoftmax(g *graph.Graph, x, score *grad.Var) *grad.Var {
	return UpdateAll(g.Membership(), U(x).Mul(U(score).Softmax()), Sum)
}
