package attention

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// recurrent runs a step of a recurrent network that attends, over all steps of its targets
// or for one.
type recurrent struct {
	op     string
	align  Aligner
	window int // 0: it sees all

	// step takes x a step further. prev is the state before, and last what the aligner
	// carried.
	step func(x *grad.Var, look Look, prev message.State, last *grad.Var) (next message.State, carried *grad.Var)
}

// sweep returns the states at all nodes of target, and what was carried there. x has a row
// for each node; the first step begins with init, a row for each chain.
func (d recurrent) sweep(t *grad.Tape, e *Encoded, target *graph.Graph, x *grad.Var, init message.State) (states message.State, carried *grad.Var, att *graph.Graph) {
	att = e.toTarget(d.op, target, d.window)
	roots, all := target.Roots(), message.State{}
	of := make([]int32, len(roots))
	for i, v := range roots {
		of[i] = compose.ChainOf(target)[v]
	}
	for _, s := range init {
		if len(roots) < e.Len() { // an empty target begins nowhere
			s = s.Rows(of)
		}
		all = append(all, s)
	}
	n := len(all)
	var on []*graph.Graph
	if first := d.align.Start(t, graph.Must(graph.Dst(att, roots))); first != nil {
		all, on = append(all, first), make([]*graph.Graph, n+1)
		on[n] = att
	}
	states = message.SweepOn(target, on, all, func(lv *message.Level, prev message.State) message.State {
		var last *grad.Var
		if on != nil {
			last = prev[n]
		}
		before := make(message.State, n)
		for i := range before {
			before[i] = message.UpdateAll(lv.In, message.CopyU(prev[i]), message.Sum)
		}
		next, c := d.step(lv.Rows(x), e.look(lv.Of(att)), before, last)
		if on != nil {
			next = append(next, c)
		}
		return next
	})
	if on != nil {
		carried = states[n]
	}
	return states[:n], carried, att
}

// start returns the state before the first step of a search: init, and what the aligner
// carries, in rows as wide as the longest source wants them.
func (d recurrent) start(t *grad.Tape, e *Encoded, init message.State) message.State {
	live := Live{Sentence: make([]int32, e.Len())}
	for i := range live.Sentence {
		live.Sentence[i] = int32(i)
	}
	att := e.toLive(d.op, live, d.window)
	if first := d.align.Start(t, att); first != nil {
		init = append(init, e.spread(att, first))
	}
	return init
}

// one takes each row of a search a step further. n is how many Vars the state has without
// what the aligner carries.
func (d recurrent) one(e *Encoded, live Live, x *grad.Var, before message.State, n int) message.State {
	if len(live.Last) != len(live.Sentence) {
		panic(&tensor.ShapeError{Op: d.op, Shapes: [][]int{{len(live.Last)}, {len(live.Sentence)}}, Why: "Live wants a token and a sentence for each row"})
	}
	if len(before) != n && len(before) != n+1 {
		panic(&grad.TapeError{Op: d.op, Why: fmt.Sprintf("the state has %d Vars; it begins with what Start returns", len(before))})
	}
	att := e.toLive(d.op, live, d.window)
	var last *grad.Var
	if len(before) > n {
		at, room := e.slots(att)
		last = before[n].Reshape(len(live.Last)*room, -1).Rows(at)
	}
	next, carried := d.step(x, e.look(att), before[:n:n], last)
	if carried != nil {
		next = append(next, e.spread(att, carried))
	}
	return next
}

// spread returns what is carried on the edges of g as a row for each destination.
func (e *Encoded) spread(g *graph.Graph, x *grad.Var) *grad.Var {
	at, room := e.slots(g)
	return x.ScatterAdd(at, g.NumDst()*room).Reshape(g.NumDst(), room*x.Dim(1))
}

// before returns the state that each node of g reads: that of its predecessor, or the row
// of its chain in first.
func before(g *graph.Graph, first, states *grad.Var) *grad.Var {
	of, in := compose.ChainOf(g), g.In()
	rows := make([]int32, g.NumNodes())
	for v := range rows {
		if e := in.Offsets[v]; e < in.Offsets[v+1] {
			rows[v] = int32(first.Dim(0)) + in.Cols[e]
		} else {
			rows[v] = of[v]
		}
	}
	return grad.ConcatAxis(0, first, states).Rows(rows)
}

// atEnds returns x at the first or the last node of each chain of g: zero for one without
// nodes.
func atEnds(g *graph.Graph, x *grad.Var, first bool) *grad.Var {
	ends := compose.LastNodes(g)
	if first {
		ends = compose.FirstNodes(g)
	}
	return message.UpdateAll(ends, message.CopyU(x), message.Sum)
}
