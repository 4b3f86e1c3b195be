package rules

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// reducesSources reports whether a plan reduces U(x) alone by r, and finds x. The rows
// of a vector have no axis that a result could keep.
func reducesSources(p *plan.Plan, r ir.Reducer) (x int, ok bool) {
	m := p.Program.Message()
	if !p.Program.Reduces(r) || !m.Is(ir.LeafU) || m.Leaf().Flat {
		return 0, false
	}
	return m.Var(), true
}

// sumSources is Σ U(x).
type sumSources struct{ x int }

func matchSumSources(p *plan.Plan) Kernel {
	if x, ok := reducesSources(p, ir.Sum); ok {
		return sumSources{x}
	}
	return nil
}

// Takes takes every call.
func (sumSources) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k sumSources) Forward(c *exec.Call) *grad.Var {
	x := c.Vars[k.x]
	op := grad.Begin("UpdateAll.SumU", x)
	var room [tensor.MaxAxes]int
	y := op.Fresh(c.Shape(room[:], x)...)
	if !op.Dry(0) {
		sparse.Product{A: c.Graph.In()}.Into(y.Value(), x.Value())
	}
	n := grad.Notes[sumSourcesBack](op)
	*n = sumSourcesBack{c.Graph, x}
	return op.RecordBy(y, n)
}

// sumSourcesBack is the pullback of a sum of rows of sources.
type sumSourcesBack struct {
	g *graph.Graph
	x *grad.Var
}

// Pull adds to x's gradient.
func (n *sumSourcesBack) Pull(dy *tensor.Dense) {
	pullProduct(n.x, sparse.Product{A: n.g.In(), Transpose: true}, dy)
}

// pullProduct adds a product over the edges with x to v's gradient, if that is
// wanted.
func pullProduct(v *grad.Var, p sparse.Product, x *tensor.Dense) {
	if dv, fresh := v.FreshGrad(); dv != nil {
		p.Add = !fresh
		p.Into(dv, x)
	}
}
