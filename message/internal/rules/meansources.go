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

// meanSources is the mean of U(x).
type meanSources struct{ x int }

func matchMeanSources(p *plan.Plan) Kernel {
	if x, ok := reducesSources(p, ir.Mean); ok {
		return meanSources{x}
	}
	return nil
}

// Takes takes every call.
func (meanSources) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k meanSources) Forward(c *exec.Call) *grad.Var {
	x := c.Vars[k.x]
	op := grad.Begin("UpdateAll.MeanU", x)
	var room [tensor.MaxAxes]int
	y := op.Fresh(c.Shape(room[:], x)...)
	if !op.Dry(0) {
		sparse.Product{A: c.Graph.In(), Mean: true}.Into(y.Value(), x.Value())
	}
	n := grad.Notes[meanSourcesBack](op)
	*n = meanSourcesBack{c.Graph, x}
	return op.RecordBy(y, n)
}

// meanSourcesBack is the pullback of a mean of rows of sources.
type meanSourcesBack struct {
	g *graph.Graph
	x *grad.Var
}

// Pull adds to x's gradient.
func (n *meanSourcesBack) Pull(dy *tensor.Dense) {
	pullProduct(n.x, sparse.Product{A: n.g.In(), Transpose: true, Mean: true}, dy)
}
