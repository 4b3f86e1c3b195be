package exec

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Call is a plan with all that it is run on. It is the caller's again when it
// returns: what backward needs is copied.
type Call struct {
	Plan       *plan.Plan
	Graph      *graph.Graph
	Vars       []*grad.Var // what the leaves read
	Attributes []ops.Attribute
	Lasting    bool // nobody changes Vars and Attributes ever after, so that they may be kept
}

// Shape returns room with the shape of a row for each destination, each like x's.
func (c *Call) Shape(room []int, x *grad.Var) []int {
	room = append(room[:0], x.Shape()...)
	room[0] = c.Graph.NumDst()
	return room
}

// shortVars and shortAttributes are how many of each an evaluation has room for.
const (
	shortVars       = 6
	shortAttributes = 2
)

// evaluation is a plan that was run on a graph, with all that backward needs: what
// it read, and its statistics. It is all that a tape holds of it.
type evaluation struct {
	plan   *plan.Plan
	graph  *graph.Graph
	op     grad.Op
	y      *grad.Var
	bias   *grad.Var            // that is added to the rows of a sum; nil: none
	walks  bool                 // destinations are walked, not tiled, where that is possible
	room   [shortVars]*grad.Var // the Vars, up to the first nil,
	more   *manyVars            // unless they are here
	floats []tensor.Float       // the statistics, and what reducers keep; see newPass
	ints   []int32
}

// manyVars are Vars and attributes that an evaluation alone has no room for.
type manyVars struct {
	vars       []*grad.Var
	attributes []ops.Attribute
}

// longEvaluation is an evaluation of many Vars, or with attributes.
type longEvaluation struct {
	evaluation
	many      manyVars
	attribute [shortAttributes]ops.Attribute
}

// newEvaluation keeps what a call reads.
func newEvaluation(op grad.Op, c *Call) *evaluation {
	if len(c.Vars) <= shortVars && len(c.Attributes) == 0 {
		e := tape.Notes[evaluation](op)
		copy(e.room[:], c.Vars)
		return e
	}
	l := tape.Notes[longEvaluation](op)
	l.more = &l.many
	l.many.attributes = append(l.attribute[:0], c.Attributes...)
	l.many.vars = l.room[:copy(l.room[:], c.Vars)]
	switch {
	case c.Lasting:
		l.many.vars = c.Vars
	case len(c.Vars) > shortVars:
		l.many.vars = slices.Clone(c.Vars)
	}
	return &l.evaluation
}

// vars returns the Vars that the plan reads.
func (e *evaluation) vars() []*grad.Var {
	if e.more != nil {
		return e.more.vars
	}
	for i, x := range e.room {
		if x == nil {
			return e.room[:i]
		}
	}
	return e.room[:]
}

// attribute returns what a step has beside its operands.
func (e *evaluation) attribute(s *plan.Step) *ops.Attribute { return &e.more.attributes[s.Attribute] }

// newResult makes the array of results: a row for each destination, or edge. Chunks
// clear what they add to.
func (e *evaluation) newResult() *grad.Var {
	var shape [tensor.MaxAxes]int
	n := 1 + copy(shape[1:], e.plan.Out().Shape)
	if shape[0] = e.graph.NumEdges(); e.plan.Result != plan.Stored {
		shape[0] = e.graph.NumDst()
		shape[n-1] *= len(e.plan.Reducers())
	}
	return e.op.Fresh(shape[:n]...)
}

// edgesKept is the number of edges that steps and reducers keep.
func (e *evaluation) edgesKept() int {
	n := e.plan.KeptEdges * e.plan.Out().Width
	if e.plan.StatsEdges {
		n += e.plan.Stats
	}
	return n * e.graph.NumDst()
}
