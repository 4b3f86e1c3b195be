package rules

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// weightedSum is Σ U(x)·E(w), of which w has a number a head.
type weightedSum struct{ x, w int }

func matchWeightedSum(p *plan.Plan) Way {
	x, w, ok := p.Program.Message().Product(ops.LeafU)
	if !ok || !p.Program.Reduces(ops.Sum) || !w.Is(ops.LeafE) || !ir.Heads(w.Leaf(), x.Leaf()) {
		return nil
	}
	return weightedSum{x.Var(), w.Var()}
}

// Takes takes every call.
func (weightedSum) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k weightedSum) Forward(c *exec.Call) *grad.Var {
	x, w := c.Vars[k.x], c.Vars[k.w]
	op := grad.Begin("UpdateAll.SumWeighted", x, w)
	var room [tensor.MaxAxes]int
	y := op.Fresh(c.Shape(room[:], x)...)
	if !tape.Dry(op, 0) {
		sparse.Product{A: c.Graph.In(), Weights: w.Value()}.Into(y.Value(), x.Value())
	}
	return tape.RecordBy(op, y, tape.Note(op, weightedSumBack{c.Graph, x, w}))
}

// weightedSumBack is the pullback of a weighted sum.
type weightedSumBack struct {
	g    *graph.Graph
	x, w *grad.Var
}

// Pull adds to the gradients of x and w.
func (n *weightedSumBack) Pull(dy *tensor.Dense) {
	pullProduct(n.x, sparse.Product{A: n.g.In(), Weights: n.w.Value(), Transpose: true}, dy)
	if dw, fresh := tape.FreshGrad(n.w); dw != nil {
		sparse.Dots{A: n.g.In(), Add: !fresh}.Into(dw, n.x.Value(), dy)
	}
}
