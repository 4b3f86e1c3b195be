package rules

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// edgeSoftmax is the softmax of E(x) over the in-edges of each destination.
type edgeSoftmax struct{ x int }

func matchEdgeSoftmax(p *plan.Plan) Way {
	m := p.Program.Message()
	if p.Result != plan.Stored || !m.Is(ops.Softmax) || !m.Operand().Is(ops.LeafE) {
		return nil
	}
	return edgeSoftmax{m.Operand().Var()}
}

// Takes takes every call.
func (edgeSoftmax) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k edgeSoftmax) Forward(c *exec.Call) *grad.Var {
	x := c.Vars[k.x]
	op := grad.Begin("EdgeSoftmax", x)
	y := op.Fresh(columnsOf(x)...)
	if !tape.Dry(op, 0) {
		sparse.Softmax{A: c.Graph.In()}.Into(y.Value(), x.Value().Reshape(columnsOf(x)...))
	}
	return tape.RecordBy(op, y, tape.Note(op, edgeSoftmaxBack{c.Graph, x, y}))
}

// columnsOf is the shape of x, with one column if it is a vector.
func columnsOf(x *grad.Var) []int {
	if shape := x.Shape(); len(shape) > 1 {
		return shape
	}
	return []int{x.Dim(0), 1}
}

// edgeSoftmaxBack is the pullback of a softmax of edges.
type edgeSoftmaxBack struct {
	g    *graph.Graph
	x, y *grad.Var
}

// Pull adds to x's gradient.
func (n *edgeSoftmaxBack) Pull(dy *tensor.Dense) {
	dx, fresh := tape.FreshGrad(n.x)
	rows := dx.Reshape(columnsOf(n.x)...)
	sparse.Softmax{A: n.g.In(), Add: !fresh}.Grad(rows, n.y.Value(), dy)
}
