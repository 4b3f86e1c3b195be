package rules_test

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/message/internal/reference"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
)

// asked is the rule that is asked first, and what it does with a call: it takes none.
var asked func(c *exec.Call)

func init() {
	first := rules.Rule{Name: "asked", Match: func(*plan.Plan) rules.Way { return refusing{} }}
	rules.Table = append([]rules.Rule{first}, rules.Table...)
}

type refusing struct{}

func (refusing) Takes(c *exec.Call) bool {
	if asked != nil {
		asked(c)
	}
	return false
}

func (refusing) Forward(*exec.Call) *grad.Var { panic("it takes none") }

// formulaOf is what the only message of a computation says of its result, and of the gradients of the sum of its squares
// by some Params.
func formulaOf(of []*grad.Param, made reference.Made, run func()) [][]rounding.Result {
	var r *reference.Reference
	var y []rounding.Number
	asked = func(c *exec.Call) {
		if r != nil {
			return // what a way asks for in turn
		}
		p := c.Plan.Program
		r = reference.New(c.Graph, slices.Clone(p.Code), slices.Clone(c.Vars), slices.Clone(c.Attributes), made)
		if y = r.Edges(); len(p.Reducers) > 0 {
			y = r.Reduced(p.Reducers...)
		}
	}
	run()
	asked = nil
	dy := r.Results(y)
	for i, v := range dy {
		dy[i] = rounding.Result{Value: 2 * v.Value, Bound: 2 * v.Bound}
	}
	out, gradients := [][]rounding.Result{r.Results(y)}, r.Gradients(y, dy)
	for _, p := range of {
		out = append(out, gradients(r.Of(p.Value.Data)))
	}
	return out
}
