package rules

import (
	"slices"

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

// edgeDot is the scalar product of U(x) and V(y) on every edge.
type edgeDot struct{ x, y int }

func matchEdgeDot(p *plan.Plan) Way {
	m := p.Program.Message()
	if p.Result != plan.Stored || !m.Is(ops.DotLast) {
		return nil
	}
	x, y := m.Operand(), m.Second()
	if !x.Is(ops.LeafU) || !y.Is(ops.LeafV) || !sameRows(x.Leaf(), y.Leaf()) || x.Leaf().Last() == 0 {
		return nil
	}
	return edgeDot{x.Var(), y.Var()}
}

// sameRows reports whether x and y have rows of one shape, which are not vectors'.
func sameRows(x, y *ir.Leaf) bool { return !x.Flat && !y.Flat && slices.Equal(x.Shape, y.Shape) }

// Takes takes every call.
func (edgeDot) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k edgeDot) Forward(c *exec.Call) *grad.Var {
	x, y := c.Vars[k.x], c.Vars[k.y]
	op := grad.Begin("ApplyEdges.Dot", x, y)
	var room [tensor.MaxAxes]int
	shape := c.Shape(room[:], x)
	shape[0], shape[len(shape)-1] = c.Graph.NumEdges(), 1
	z := op.Fresh(shape...)
	if !tape.Dry(op, 0) {
		sparse.Dots{A: c.Graph.In()}.Into(z.Value(), x.Value(), y.Value())
	}
	return tape.RecordBy(op, z, tape.Note(op, edgeDotBack{c.Graph, x, y}))
}

// edgeDotBack is the pullback of scalar products of edges.
type edgeDotBack struct {
	g    *graph.Graph
	x, y *grad.Var
}

// Pull adds to the gradients of x and y.
func (n *edgeDotBack) Pull(dz *tensor.Dense) {
	pullProduct(n.x, sparse.Product{A: n.g.In(), Weights: dz, Transpose: true}, n.y.Value())
	pullProduct(n.y, sparse.Product{A: n.g.In(), Weights: dz}, n.x.Value())
}
