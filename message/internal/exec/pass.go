package exec

import (
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/message/internal/plan"
	"github.com/edgewise-ml/edgewise/tensor"
)

// pass is one pass of an evaluation over all edges, forward or backward. Workers
// share it.
type pass struct {
	eval      *evaluation
	plan      *plan.Plan   // the evaluation's
	graph     *graph.Graph // the evaluation's
	backward  bool         // the statistics stand, and all values are kept
	number    int          // among all passes
	stats     stats
	reduction reduction
	vars      []*grad.Var
	data      [][]tensor.Float // of the Vars
	dstRows   []int32          // the row that a moved V reads at each destination
	turned    []tensor.Float   // matrices that backward reads turned; see turnMatrices
	dOut      []tensor.Float   // backward: the gradient of the result
	fit       int              // edges a tile; see tileEdges
	limit     int              // edges a destination may have before it comes in parts
	partition *partition       // forward
	task      chunkTask        // forward, of a chunk
}

// stats is what stays of every step across the in-edges, for each destination
// and column: of a softmax the largest entry, or 0, and the sum of exp(entry − top), of
// a quotient the sum, of a choice the last entry chosen and its edge.
type stats struct {
	columns  int
	top, sum []tensor.Float
	edges    []int32
}

// of returns the statistics of a step at destination v, of those in x.
func (t *stats) of(x []tensor.Float, s *plan.Step, v int) []tensor.Float {
	at := v*t.columns + s.Stat
	return x[at : at+s.Width]
}

var passes = sync.Pool{New: func() any {
	p := new(pass)
	p.task = p.forwardChunk
	return p
}}

// passNumber counts passes, so that a worker knows whether it has served this one.
var passNumber atomic.Int64

// newPass makes ready for a pass.
func (e *evaluation) newPass(backward bool) *pass {
	p := passes.Get().(*pass)
	p.eval, p.plan, p.graph, p.backward, p.vars = e, e.plan, e.graph, backward, e.vars()
	p.number = int(passNumber.Add(1))
	p.data = p.data[:0]
	for _, x := range p.vars {
		p.data = append(p.data, x.Value().Data)
	}
	p.dstRows = nil
	if e.graph.Bipartite() {
		p.dstRows = e.graph.DstRows()
	}
	size := e.plan.Stats * e.graph.NumDst()
	p.stats = stats{columns: e.plan.Stats, top: e.floats[:size], sum: e.floats[size : 2*size]}
	won := e.ints
	if e.plan.StatsEdges {
		p.stats.edges, won = won[:size], won[size:]
	}
	if e.plan.Result != plan.Stored {
		p.reduction = newReduction(e, e.floats[2*size:], won)
	}
	if p.fit, p.limit = tileEdges(e.plan, backward); backward {
		p.turnMatrices()
	}
	return p
}

// release hands a pass back. After a panic it is left to the collector.
func (p *pass) release() {
	data, turned, task := p.data, p.turned, p.task
	clear(data)
	*p = pass{data: data, turned: turned, task: task}
	passes.Put(p)
}

// kindsOf returns which of the rows of its row each edge takes.
func (p *pass) kindsOf(s *plan.Step) []int32 { return p.eval.aside(s).Rows }

// eachRow calls f with every destination of the tile that has edges there, and
// with the range of its edges, counted from the tile's first.
func (p *pass) eachRow(t tile, f func(v, lo, hi int)) {
	off := p.graph.In().Offsets
	for v := t.r0; v < t.r1; v++ {
		lo, hi := max(int(off[v]), t.lo), min(int(off[v+1]), t.hi)
		if lo < hi {
			f(v, lo-t.lo, hi-t.lo)
		}
	}
}

// resultRows are the results of the destinations from r0 to r1.
func (p *pass) resultRows(r0, r1 int) []tensor.Float {
	n := p.plan.Out().Width * len(p.plan.Reducers())
	return p.eval.y.Value().Data[r0*n : r1*n]
}
