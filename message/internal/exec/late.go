package exec

import (
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/message/internal/ops"
)

// A sum waits for the bias of its layer: graph attention, and messages without a
// kernel of their own, add it to a row before that leaves the caches. See
// [tape.Late].

// Record records what l makes, which may wait if waits says that all that it reads
// is the tape's.
func Record(op grad.Op, y *grad.Var, l tape.Late, waits bool) *grad.Var {
	if waits {
		return tape.RecordLate(op, y, l)
	}
	l.Run(op, y)
	return tape.RecordBy(op, y, l)
}

// own reports whether the evaluation may wait. A small leaf that it reads is copied
// then.
func (e *evaluation) own() bool {
	if !e.sums() {
		return false
	}
	vars := e.vars()
	if e.more != nil { // they may be an expression's
		vars = slices.Clone(vars)
	}
	if !tape.Own(e.op, vars) {
		return false
	}
	if e.more != nil {
		e.more.vars = vars
	}
	return true
}

// sums reports whether the reducer is Sum alone.
func (e *evaluation) sums() bool {
	rs := e.plan.Reducers()
	return len(rs) == 1 && rs[0] == ops.Sum
}

// take takes the memory that stays until backward.
func (e *evaluation) take(op grad.Op) {
	e.floats = op.Floats((2*e.plan.Stats + e.plan.KeptFloats*e.plan.Out().Width) * e.graph.NumDst())
	e.ints = op.Ints(e.edgesKept())
}

// Run implements [tape.Late].
func (e *evaluation) Run(op grad.Op, y *grad.Var) {
	e.y = y
	if e.floats == nil {
		e.take(op)
	}
	if !tape.Measuring(op) {
		p := e.newPass(false)
		p.forward()
		p.release()
	}
}

// Biased implements [tape.Biasing].
func (e *evaluation) Biased(b, y *grad.Var) tape.Late {
	if !e.sums() {
		return nil
	}
	with := tape.Notes[evaluation](e.op)
	*with = *e
	if with.y = y; y == nil {
		with.bias = b
		e.floats, e.ints = nil, nil
	}
	return with
}
