package layers

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message"
)

// propagation is a normalised adjacency, S: each node takes the weighted sum of
// its in-neighbours, Σ_u weight_uv·c_uv·x_u, where c is a factor of each side.
type propagation struct {
	g                   *graph.Graph
	left, right, weight *grad.Var // nil: 1
}

// propagation returns S of the layer op for the graph and the weights of its edges. Without
// weights a norm of both sides has its numbers on the edges, which are kept: one
// product with them takes less time than two with columns.
func (n Norm) propagation(op string, g *graph.Graph, weight *grad.Var) propagation {
	left, right := n.factors(op, g, weight)
	if weight == nil && left != nil && right != nil {
		return propagation{g: g, weight: n.Weights(g, nil)}
	}
	return propagation{g, left, right, weight}
}

// of returns S·x.
func (p propagation) of(x *grad.Var) *grad.Var {
	if p.left != nil {
		x = x.Mul(p.left)
	}
	y := message.UpdateAll(p.g, weighted(x, p.weight), message.Sum)
	if p.right != nil {
		y = y.Mul(p.right)
	}
	return y
}

// power returns S^k·x.
func (p propagation) power(x *grad.Var, k int) *grad.Var {
	for range k {
		x = p.of(x)
	}
	return x
}

// project returns S^k·x·w. The two commute, and productFirst says which is taken
// first.
func (p propagation) project(x, w *grad.Var, k int) *grad.Var {
	if productFirst(p.g, x, w) {
		return p.power(x.MatMul(w), k)
	}
	return p.power(x, k).MatMul(w)
}

// weighted is the message of a source's row times the edge's weight; nil is 1.
func weighted(x, weight *grad.Var) message.Msg {
	m := message.U(x)
	if weight != nil {
		m = m.Mul(message.E(weight))
	}
	return m
}
