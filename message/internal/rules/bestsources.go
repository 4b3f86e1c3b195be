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

// bestSources is the largest or the smallest of U(x).
type bestSources struct {
	x        int
	smallest bool
}

func matchMaxSources(p *plan.Plan) Way {
	if x, ok := reducesSources(p, ops.Max); ok {
		return bestSources{x: x}
	}
	return nil
}

func matchMinSources(p *plan.Plan) Way {
	if x, ok := reducesSources(p, ops.Min); ok {
		return bestSources{x: x, smallest: true}
	}
	return nil
}

// Takes takes every call.
func (bestSources) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k bestSources) Forward(c *exec.Call) *grad.Var {
	x := c.Vars[k.x]
	op := grad.Begin("UpdateAll.BestU", x)
	var room [tensor.MaxAxes]int
	y := op.Fresh(c.Shape(room[:], x)...)
	arg := op.Ints(len(y.Value().Data))
	switch {
	case tape.Dry(op, 0):
	case k.smallest:
		sparse.MinDense(y.Value(), arg, c.Graph.In(), x.Value())
	default:
		sparse.MaxDense(y.Value(), arg, c.Graph.In(), x.Value())
	}
	return tape.RecordBy(op, y, tape.Note(op, bestSourcesBack{c.Graph, x, arg}))
}

// bestSourcesBack is the pullback of a choice among rows of sources.
type bestSourcesBack struct {
	g   *graph.Graph
	x   *grad.Var
	arg []int32 // the edge that was chosen for each element
}

// Pull adds to x's gradient.
func (n *bestSourcesBack) Pull(dy *tensor.Dense) {
	sparse.BestGrad(n.x.Grad(), n.arg, n.g.In(), dy)
}
