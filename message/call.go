package message

import (
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ir"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
)

// callRoom is a call with room for what a short Msg reads, so that a call is no
// garbage.
type callRoom struct {
	call   exec.Call
	vars   [shortVars]*grad.Var
	asides [shortAsides]ir.Aside
}

var callRooms = sync.Pool{New: func() any { return new(callRoom) }}

// newCall returns a call of m's plan on g.
func newCall(g *graph.Graph, m *Msg, p *plan.Plan) *callRoom {
	r := callRooms.Get().(*callRoom)
	r.call.Plan, r.call.Graph, r.call.Lasting = p, g, false
	if m.long != nil {
		r.call.Vars, r.call.Asides, r.call.Lasting = m.long.vars, m.long.asides, true
		return r
	}
	r.call.Vars = r.vars[:copy(r.vars[:], m.operands())]
	r.call.Asides = r.asides[:copy(r.asides[:], m.besides())]
	return r
}

// release hands the room back. After a panic it is left to the collector.
func (r *callRoom) release() {
	if !r.call.Lasting { // else they are the Msg's
		clear(r.call.Vars)
		clear(r.call.Asides)
	}
	r.call.Plan, r.call.Graph, r.call.Vars, r.call.Asides, r.call.Bias = nil, nil, nil, nil, nil
	callRooms.Put(r)
}
