package message

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// evaluation is a plan that was run on a graph, with all that backward needs: what
// it read, and its statistics. It is all that a tape holds of it.
type evaluation struct {
	*plan
	g      *graph.Graph
	op     grad.Op
	y      *grad.Var
	bias   *grad.Var // that is added to the rows of a sum; nil: none
	room   [shortVars]*grad.Var
	more   *program       // instead of room, where there are more Vars or asides
	floats []tensor.Float // the statistics, and what reducers keep; see stats and reduction
	ints   []int32
}

// laden is an evaluation with a few asides of its own.
type laden struct {
	evaluation
	program
	asideRoom [shortAsides]aside
}

// newEvaluation keeps what m reads.
func newEvaluation(op grad.Op, m *Msg) *evaluation {
	vars, asides := m.operands(), m.besides()
	if len(vars) <= shortVars && len(asides) == 0 {
		e := grad.Notes[evaluation](op)
		copy(e.room[:], vars)
		return e
	}
	l := grad.Notes[laden](op)
	l.more = &l.program
	l.asides = append(l.asideRoom[:0], asides...)
	l.vars = l.room[:copy(l.room[:], vars)]
	if m.long != nil { // which nobody changes
		l.vars = m.long.vars
	}
	return &l.evaluation
}

// reads returns the Vars that the plan reads.
func (e *evaluation) reads() []*grad.Var {
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

// aside returns what a step has beside its operands.
func (e *evaluation) aside(s *step) *aside { return &e.more.asides[s.aside] }

// evaluate runs a plan of m in tiles, with a bias that is added to each row, or nil.
func evaluate(name string, g *graph.Graph, m *Msg, p *plan, b *grad.Var) *grad.Var {
	op := grad.Begin(name, m.operands()...)
	e := newEvaluation(op, m)
	e.plan, e.g, e.op, e.bias = p, g, op, b
	e.y = e.result()
	e.floats = e.op.Floats((2*p.nStat + p.kept*p.out().width) * g.NumDst())
	e.ints = e.op.Ints(e.choices())
	if !op.Measuring() {
		r := e.run(false)
		r.forward()
		r.dismiss()
	}
	return e.op.RecordBy(e.y, e)
}

// result makes the array of results: a row for each destination, or edge. Chunks
// clear what they add to.
func (e *evaluation) result() *grad.Var {
	var shape [tensor.MaxAxes]int
	out := e.out().shape
	n := 1 + copy(shape[1:], out)
	if shape[0] = e.g.NumEdges(); len(e.rs) > 0 {
		shape[0] = e.g.NumDst()
		shape[n-1] *= len(e.rs)
	}
	return e.op.Fresh(shape[:n]...)
}

// choices is the number of edges that steps and reducers keep.
func (e *evaluation) choices() int {
	n := e.won * e.out().width
	if e.edges {
		n += e.nStat
	}
	return n * e.g.NumDst()
}

// Pull adds the gradients, from that of the result.
func (e *evaluation) Pull(dy *tensor.Dense) {
	r := e.run(true)
	r.dOut = dy.Data
	b := passes.Get().(*backPass)
	b.backward(r)
	r.dismiss()
}

// Shift implements [grad.Shifter]. Of all reducers the gradient of Std alone reads
// the result.
func (e *evaluation) Shift(*grad.Var) bool { return !slices.Contains(e.rs, Std) }

// plain reports whether the reducer is Sum or Mean alone, whose gradient is the
// same row for every message.
func (p *plan) plain() bool { return len(p.rs) == 1 && (p.rs[0] == Sum || p.rs[0] == Mean) }
