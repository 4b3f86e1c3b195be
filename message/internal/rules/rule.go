package rules

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// Way is how the messages run that a rule knows. It belongs to a plan and holds nothing
// of a call, so that it serves any number of goroutines.
type Way interface {
	// Takes reports whether a call can run this way: what depends on its graph, or
	// on values.
	Takes(c *exec.Call) bool
	// Forward computes the result of a call and records its pullback.
	Forward(c *exec.Call) *grad.Var
}

// Adder is a Way whose results come with rows added to them.
type Adder interface {
	Way
	// WithOwn is x and the result of a call, which is a row for each of x's, in one
	// operation; nil: it is no gain to compute the two together.
	WithOwn(c *exec.Call, x *grad.Var) *grad.Var
}

// Rule knows some plans, and the way in which they run.
type Rule struct {
	Name  string                 // what Explain says
	Match func(p *plan.Plan) Way // the way of a plan; nil: the rule does not know it
}

const tilesName = "tiles"

// tiles runs everything, a tile of edges at a time.
type tiles struct{ walk bool } // destinations are walked where that is possible: see matchGATv2Walk

func matchTiles(*plan.Plan) Way { return tiles{} }

// Takes takes every call.
func (tiles) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k tiles) Forward(c *exec.Call) *grad.Var { return exec.Run(c, k.walk) }
