package rules

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// Kernel runs the messages that a rule knows. It belongs to a plan and holds nothing
// of a call, so that it serves any number of goroutines.
type Kernel interface {
	// Takes reports whether the kernel can run a call: what depends on its graph, or
	// on values.
	Takes(c *exec.Call) bool
	// Forward computes the result of a call and records its pullback.
	Forward(c *exec.Call) *grad.Var
}

// Adder is a Kernel whose results come with rows added to them.
type Adder interface {
	Kernel
	// WithOwn is x and the result of a call, which is a row for each of x's, in one
	// operation; nil: it is no gain to compute the two together.
	WithOwn(c *exec.Call, x *grad.Var) *grad.Var
}

// Rule finds the plans that a kernel runs.
type Rule struct {
	Name  string                    // what Explain says of the kernel
	Match func(p *plan.Plan) Kernel // the kernel of a plan, or nil
}

const tilesName = "tiles"

// tiles runs everything, a tile of edges at a time.
type tiles struct{ walk bool } // destinations are walked where that is possible: see matchGATv2Walk

func matchTiles(*plan.Plan) Kernel { return tiles{} }

// Takes takes every call.
func (tiles) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k tiles) Forward(c *exec.Call) *grad.Var { return exec.Run(c, k.walk) }
