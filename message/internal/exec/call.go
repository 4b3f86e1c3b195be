package exec

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// Call is a plan with all that it is run on. It is the caller's again when it
// returns: what backward needs is copied.
type Call struct {
	Plan       *plan.Plan
	Graph      *graph.Graph
	Vars       []*grad.Var // what the leaves read
	Attributes []ir.Attribute
	Lasting    bool // nobody changes Vars and Attributes ever after, so that they may be kept
}

// Shape returns room with the shape of a row for each destination, each like x's.
func (c *Call) Shape(room []int, x *grad.Var) []int {
	room = append(room[:0], x.Shape()...)
	room[0] = c.Graph.NumDst()
	return room
}
