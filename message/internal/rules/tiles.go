package rules

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

const tilesName = "tiles"

// tiles runs everything, a tile of edges at a time.
type tiles struct{ walk bool } // destinations are walked where that is possible: see matchGATv2Walk

func matchTiles(*plan.Plan) Kernel { return tiles{} }

// Takes takes every call.
func (tiles) Takes(*exec.Call) bool { return true }

// Forward runs a call.
func (k tiles) Forward(c *exec.Call) *grad.Var { return exec.Run(c, k.walk) }
