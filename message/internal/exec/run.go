package exec

import (
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Run runs a call in tiles or, where walk is set, in walks of the edges of each
// destination, for which the plan must be attention by GATv2: see gatv2walk.go.
func Run(c *Call, walk bool) *grad.Var {
	name := "UpdateAll"
	if c.Plan.Result == plan.Stored {
		name = "ApplyEdges"
	}
	op := grad.Begin(name, c.Vars...)
	e := newEvaluation(op, c)
	e.plan, e.graph, e.op, e.walks = c.Plan, c.Graph, op, walk
	y := e.newResult()
	e.take(op)
	return Record(op, y, e, e.own())
}

// newPass makes ready for a pass.
func (e *evaluation) newPass(backward bool) *pass {
	p := passes.Get().(*pass)
	p.eval, p.plan, p.graph, p.backward, p.vars = e, e.plan, e.graph, backward, e.vars()
	p.number = int(passNumber.Add(1))
	p.data = p.data[:0]
	for _, x := range p.vars {
		p.data = append(p.data, x.Value().Data)
	}
	size := e.plan.Stats * e.graph.NumDst()
	p.stats = stats{columns: e.plan.Stats, top: e.floats[:size], sum: e.floats[size : 2*size]}
	edges := e.ints
	if e.plan.StatsEdges {
		p.stats.edges, edges = edges[:size], edges[size:]
	}
	if e.plan.Result != plan.Stored {
		p.reduction = newReduction(e, e.floats[2*size:], edges)
	}
	if p.fit, p.limit = tileEdges(e.plan, backward); backward {
		p.turnMatrices()
	}
	return p
}

var passes = sync.Pool{New: func() any {
	p := new(pass)
	p.task = p.forwardChunk
	return p
}}

// passNumber counts passes, so that a worker knows whether it has served this one.
var passNumber atomic.Int64

// forward evaluates the plan over all edges, and reduces or stores what comes of
// it.
func (p *pass) forward() {
	p.partition = partitionOf(p.plan, p.graph, false)
	eachChunk(len(p.partition.chunks), p.task)
}

func (p *pass) forwardChunk(i int) {
	c := p.partition.chunks[i]
	w := p.readyWorker(c.hi - c.lo)
	if p.eval.walks {
		w.walk(c)
	} else {
		w.forwardTiles(c)
	}
	w.release()
}

// Pull adds the gradients, from that of the result.
func (e *evaluation) Pull(dy *tensor.Dense) {
	p := e.newPass(true)
	p.dOut = dy.Data
	b := backPasses.Get().(*backPass)
	b.backward(p)
	p.release()
}

// release hands a pass back. After a panic it is left to the collector.
func (p *pass) release() {
	data, turned, task := p.data, p.turned, p.task
	clear(data)
	*p = pass{data: data, turned: turned, task: task}
	passes.Put(p)
}
