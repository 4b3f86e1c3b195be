package message

import (
	"fmt"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message/internal/exec"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/message/internal/rules"
)

// UpdateAll returns, for every destination of g, the reduction of the messages
// that arrive there. Several reducers give several results in one traversal,
// joined along the last axis. No array with a row for each edge is made, but for
// additive scores on a graph of blocks, of which a number an edge is kept.
func UpdateAll(g *graph.Graph, m Msg, rs ...Reducer) *grad.Var {
	return updateAll("message.UpdateAll", g, m, rs)
}

// AddAll returns x, which has a row for each destination of g, and the sum of the messages
// that arrive there:
//
//	y_v = x_v + Σ m_e    over the edges e into v
//
// That is x.Add of UpdateAll, to the bit. Where the messages are the rows of x themselves, as
// of a graph whose nodes hear each other and themselves, it is one pass.
func AddAll(x *grad.Var, g *graph.Graph, m Msg) *grad.Var {
	const op = "message.AddAll"
	given(op, g)
	wantRows(op, "x", x, g.NumDst(), "destinations")
	if x.IsSparse() {
		panic(misfit(op, x.Shape(), "x is sparse, and the sum is dense: multiply x by a matrix first"))
	}
	p := planned(op, g, &m, sums)
	room := newCall(g, &m, p.Plan)
	k := p.Choose(&room.call)
	var y *grad.Var
	if a, ok := k.(rules.Adder); ok {
		y = a.WithOwn(&room.call, x)
	}
	if y == nil {
		y = x.Add(k.Forward(&room.call))
	}
	room.release()
	return y
}

// updateAll is UpdateAll under the name that errors give.
func updateAll(op string, g *graph.Graph, m Msg, rs []Reducer) *grad.Var {
	if len(rs) == 0 {
		panic(&grad.TapeError{Op: op, Why: "no reducer; name one or several, such as message.Sum"})
	}
	given(op, g)
	return run(op, g, &m, rs)
}

var sums = []Reducer{Sum}

// given panics if there is no graph.
func given(op string, g *graph.Graph) {
	if g == nil {
		panic(&grad.TapeError{Op: op, Why: "the graph is nil"})
	}
}

// run computes m on g, under reducers or none: it finds the plan of m, and the first
// way of this plan that takes the call.
func run(op string, g *graph.Graph, m *Msg, rs []Reducer) *grad.Var {
	p := planned(op, g, m, rs)
	room := newCall(g, m, p.Plan)
	y := p.Choose(&room.call).Forward(&room.call)
	room.release()
	return y
}

// callRoom is a call with room for what a short Msg reads, so that a call is no
// garbage.
type callRoom struct {
	call       exec.Call
	vars       [shortVars]*grad.Var
	attributes [shortAttributes]ops.Attribute
}

var callRooms = sync.Pool{New: func() any { return new(callRoom) }}

// newCall returns a call of m's plan on g.
func newCall(g *graph.Graph, m *Msg, p *plan.Plan) *callRoom {
	r := callRooms.Get().(*callRoom)
	r.call.Plan, r.call.Graph, r.call.Lasting = p, g, false
	if m.long != nil {
		r.call.Vars, r.call.Attributes, r.call.Lasting = m.long.vars, m.long.attributes, true
		return r
	}
	r.call.Vars = r.vars[:copy(r.vars[:], m.operands())]
	r.call.Attributes = r.attributes[:copy(r.attributes[:], m.attributeList())]
	return r
}

// release hands the room back. After a panic it is left to the collector.
func (r *callRoom) release() {
	if !r.call.Lasting { // else they are the Msg's
		clear(r.call.Vars)
		clear(r.call.Attributes)
	}
	r.call.Plan, r.call.Graph, r.call.Vars, r.call.Attributes = nil, nil, nil, nil
	callRooms.Put(r)
}

// ApplyEdges returns the message of every edge of g, in the graph's edge order.
func ApplyEdges(g *graph.Graph, m Msg) *grad.Var { return applyEdges("message.ApplyEdges", g, m) }

// applyEdges is ApplyEdges under the name that errors give.
func applyEdges(op string, g *graph.Graph, m Msg) *grad.Var {
	given(op, g)
	return run(op, g, &m, nil)
}

// EdgeSoftmax normalises x, with a row for each edge in the graph's order, over
// the in-edges of each destination.
func EdgeSoftmax(g *graph.Graph, x *grad.Var) *grad.Var {
	given("message.EdgeSoftmax", g)
	wantRows("message.EdgeSoftmax", "x", x, g.NumEdges(), "edges")
	return applyEdges("message.EdgeSoftmax", g, E(x).Softmax())
}

// EdgeSoftmaxBySource normalises x over the out-edges of each source.
func EdgeSoftmaxBySource(g *graph.Graph, x *grad.Var) *grad.Var {
	given("message.EdgeSoftmaxBySource", g)
	wantRows("message.EdgeSoftmaxBySource", "x", x, g.NumEdges(), "edges")
	r := graph.Reverse(g)
	edges := r.From().Edges
	back := make([]int32, len(edges))
	for i, e := range edges {
		back[e] = int32(i)
	}
	return EdgeSoftmax(r, x.Rows(edges)).Rows(back)
}

// OnEdges brings rows that are in the order of the edge list a graph was made
// from into the graph's own edge order, in which [E] wants them.
func OnEdges(g *graph.Graph, x *grad.Var) *grad.Var {
	given("message.OnEdges", g)
	wantRows("message.OnEdges", "x", x, g.NumEdges(), "edges")
	return x.Rows(g.EdgeOrder())
}

// OnDst returns the rows of x, which has one for each source of g, that belong to the
// destinations, as [V] wants them: x itself on an ordinary graph, on one made by Block or Dst
// the rows [graph.Graph.DstRows]. It panics on any other bipartite graph, whose destinations
// are not sources.
//
//	score := message.UAddV(el, message.OnDst(g, er))
func OnDst(g *graph.Graph, x *grad.Var) *grad.Var {
	const op = "message.OnDst"
	given(op, g)
	wantRows(op, "x", x, g.NumSrc(), "sources")
	rows := g.DstRows()
	if rows == nil {
		panic(misfit(op, x.Shape(), fmt.Sprintf("the %d destinations of the graph are none of its %d sources, so they want rows of their own", g.NumDst(), g.NumSrc())))
	}
	if !g.Bipartite() {
		return x
	}
	return x.Rows(rows)
}

// Explain says in words how UpdateAll(g, m, rs...) will run, or without
// reducers ApplyEdges(g, m). What did run is among [grad.Tape.Operations].
func Explain(g *graph.Graph, m Msg, rs ...Reducer) string {
	const op = "message.Explain"
	given(op, g)
	p := planned(op, g, &m, rs)
	room := newCall(g, &m, p.Plan)
	defer room.release()
	return p.Explain(&room.call)
}
