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

// reducesSources reports whether a plan reduces U(x) alone by r, and finds x. The rows
// of a vector have no axis that a result could keep.
func reducesSources(p *plan.Plan, r *ops.Reducer) (x int, ok bool) {
	m := p.Program.Message()
	if !p.Program.Reduces(r) || !m.Is(ops.LeafU) || m.Leaf().Flat {
		return 0, false
	}
	return m.Var(), true
}

// sumSources is Σ U(x), or the mean of U(x).
type sumSources struct {
	x    int
	mean bool
}

func matchSumSources(p *plan.Plan) Way {
	if x, ok := reducesSources(p, ops.Sum); ok {
		return sumSources{x: x}
	}
	return nil
}

func matchMeanSources(p *plan.Plan) Way {
	if x, ok := reducesSources(p, ops.Mean); ok {
		return sumSources{x: x, mean: true}
	}
	return nil
}

// Takes takes every call.
func (sumSources) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k sumSources) Forward(c *exec.Call) *grad.Var {
	if k.mean {
		return k.run(c, "UpdateAll.MeanU", false)
	}
	return k.run(c, "UpdateAll.SumU", false)
}

// WithOwn is x + Σ U(x), or nil if that is no gain: x is another Var, or this a mean.
func (k sumSources) WithOwn(c *exec.Call, x *grad.Var) *grad.Var {
	if k.mean || c.Vars[k.x] != x || c.Graph.NumSrc() != c.Graph.NumDst() {
		return nil
	}
	return k.run(c, "AddAll.SumU", true)
}

// run computes the sums, or means, and with own adds x to them.
func (k sumSources) run(c *exec.Call, name string, own bool) *grad.Var {
	x := c.Vars[k.x]
	op := grad.Begin(name, x)
	var room [tensor.MaxAxes]int
	y := op.Fresh(c.Shape(room[:], x)...)
	if !tape.Dry(op, 0) {
		p := sparse.Product{A: c.Graph.In(), Mean: k.mean}
		if own {
			p.Own = x.Value()
		}
		p.Into(y.Value(), x.Value())
	}
	return tape.RecordBy(op, y, tape.Note(op, sumSourcesBack{c.Graph, x, k.mean, own}))
}

// sumSourcesBack is the pullback of a sum of rows of sources, or a mean.
type sumSourcesBack struct {
	g    *graph.Graph
	x    *grad.Var
	mean bool
	own  bool // x has been added
}

// Pull adds to x's gradient.
func (n *sumSourcesBack) Pull(dy *tensor.Dense) {
	p := sparse.Product{A: n.g.In(), Transpose: true, Mean: n.mean}
	if n.own {
		p.Own = dy
	}
	pullProduct(n.x, p, dy)
}

// pullProduct adds a product over the edges with x to v's gradient, if that is
// wanted.
func pullProduct(v *grad.Var, p sparse.Product, x *tensor.Dense) {
	if dv, fresh := tape.FreshGrad(v); dv != nil {
		p.Add = !fresh
		p.Into(dv, x)
	}
}
