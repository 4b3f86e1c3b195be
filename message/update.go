package message

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// UpdateAll returns, for every destination of g, the reduction of the messages
// that arrive there. Several reducers give several results in one traversal,
// joined along the last axis. No array with a row for each edge is made.
func UpdateAll(g *graph.Graph, m Msg, rs ...Reducer) *grad.Var {
	if len(rs) == 0 {
		panic(&grad.TapeError{Op: "message.UpdateAll", Why: "no reducer"})
	}
	if y := arrived(g, m, rs); y != nil {
		return y
	}
	if f := recognise(g, m, rs); f != nil {
		return f.run(g)
	}
	p := newPlan("message.UpdateAll", g, m, rs...)
	return p.update(slices.Clone(rs))
}

// update runs the plan in tiles.
func (p *plan) update(rs []Reducer) *grad.Var {
	op := grad.Begin("UpdateAll", p.leaf...)
	shape := append([]int{p.g.NumDst()}, p.out().shape...)
	shape[len(shape)-1] *= len(rs)
	y := op.New(shape...)
	red := newReduction(op, p, y.Value(), rs)
	st := newStats(op, p)
	n := p.out().width
	p.run(st, false).forward(func(w *worker, t tile) {
		m := w.vals[len(w.steps)-1]
		if p.lazy {
			w.sumNear(y.Value().Data, t)
			return
		}
		if red.plain() {
			w.sumRows(y.Value().Data, m, t, n)
			return
		}
		w.eachRow(t, func(v, lo, hi int) { red.take(v, t.lo+lo, m[lo*n:hi*n], w.mix) })
	}, func(_ *worker, c chunk) {
		for v := c.r0; v < c.r1; v++ {
			red.finish(v)
		}
	})
	return op.Record(y, func(dy *tensor.Dense) {
		p.backLayout(!red.plain())
		r := p.run(st, true)
		r.dOut = dy.Data
		r.backward(op, func(w *worker, t tile, dm []tensor.Float) {
			if red.plain() {
				red.pullPlain(w, t, dm, dy)
				return
			}
			m := w.vals[len(w.steps)-1]
			b := &pullBuffers{dOut: dy, tmp: w.mix}
			w.eachRow(t, func(v, lo, hi int) { red.pull(v, t.lo+lo, m[lo*n:hi*n], dm[lo*n:hi*n], b) })
		})
	})
}

// ApplyEdges returns the message of every edge of g, in the graph's edge order.
func ApplyEdges(g *graph.Graph, m Msg) *grad.Var {
	if f := recogniseEdges(g, m); f != nil {
		return f.run(g)
	}
	p := newPlan("message.ApplyEdges", g, m)
	op := grad.Begin("ApplyEdges", p.leaf...)
	y := op.New(append([]int{g.NumEdges()}, p.out().shape...)...)
	st := newStats(op, p)
	n := p.out().width
	p.run(st, false).forward(func(w *worker, t tile) {
		copy(y.Value().Data[t.lo*n:t.hi*n], w.vals[len(w.steps)-1])
	}, func(*worker, chunk) {})
	return op.Record(y, func(dy *tensor.Dense) {
		p.backLayout(false)
		p.run(st, true).backward(op, func(_ *worker, t tile, dm []tensor.Float) {
			copy(dm, dy.Data[t.lo*n:t.hi*n])
		})
	})
}

// EdgeSoftmax normalises x, with a row for each edge in the graph's order, over
// the in-edges of each destination.
func EdgeSoftmax(g *graph.Graph, x *grad.Var) *grad.Var { return ApplyEdges(g, E(x).Softmax()) }

// EdgeSoftmaxBySource normalises x over the out-edges of each source.
func EdgeSoftmaxBySource(g *graph.Graph, x *grad.Var) *grad.Var {
	r := g.Reverse()
	edges := r.From().Edges
	back := make([]int32, len(edges))
	for i, e := range edges {
		back[e] = int32(i)
	}
	return EdgeSoftmax(r, x.Rows(edges)).Rows(back)
}

// OnEdges brings rows that are in the order of the edge list a graph was made
// from into the graph's own edge order, in which [E] wants them.
func OnEdges(g *graph.Graph, x *grad.Var) *grad.Var { return x.Rows(g.EdgeOrder()) }
