package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LogSumExp returns log Σeˣ along the last axis, which is kept with length 1 as
// Dot does. It is −∞ of an empty axis and of −∞ alone, which then gets no gradient;
// of several +∞ each gets an equal share. A NaN makes it NaN.
func (x *Var) LogSumExp() *Var {
	var room extents
	return x.logSumExp("LogSumExp", lastOne(&room, x.Value().Shape()))
}

// LogSumExpAxis is [Var.LogSumExp] along one axis, which is taken away as SumAxis
// does. A negative axis counts from the last.
func (x *Var) LogSumExpAxis(axis int) *Var {
	const name = "LogSumExpAxis"
	var room extents
	i, s := x.axis(name, axis)
	shape := slices.Clone(without(&room, x.Value().Shape(), i))
	if s.inner == 1 {
		return x.logSumExp(name, shape)
	}
	rows := x.Reshape(s.outer, s.n, s.inner).Transpose() // the axis is the last
	return rows.logSumExp(name, []int{s.outer, s.inner, 1}).Reshape(shape...)
}

// logSumExp is log Σeˣ along the last axis, as an array of that shape.
func (x *Var) logSumExp(name string, shape []int) *Var {
	op := Begin(name, x)
	n := notes[logSumExpNotes](op)
	*n = logSumExpNotes{x: x, y: op.Fresh(shape...), d: x.Dim(-1)}
	if !op.dry(0) {
		n.run(false)
	}
	return op.recordBy(n.y, n)
}

// logSumExpNotes is the pullback of log Σeˣ over rows of d elements.
type logSumExpNotes struct {
	x, y   *Var
	d      int
	dx, dy []tensor.Float // of this pass
}

// logSumExpWork is how many elements one thread takes at least.
const logSumExpWork = 1 << 12

// run takes all rows, forward or back, on several threads where that is worth it.
func (n *logSumExpNotes) run(back bool) {
	rows := len(n.y.val.Data)
	switch {
	case rows*n.d > logSumExpWork && back:
		par.For(rows, max(1, logSumExpWork/n.d), n.pull)
	case rows*n.d > logSumExpWork:
		par.For(rows, max(1, logSumExpWork/n.d), n.forward)
	case back:
		n.pull(0, rows)
	default:
		n.forward(0, rows)
	}
}

func (n *logSumExpNotes) forward(lo, hi int) {
	for k := lo; k < hi; k++ {
		n.y.val.Data[k] = vec.LogSumExp(n.x.val.Data[k*n.d : (k+1)*n.d])
	}
}

// Pull adds to x's gradient.
func (n *logSumExpNotes) Pull(dy *tensor.Dense) {
	n.dx, n.dy = n.x.Grad().Data, dy.Data
	n.run(true)
	n.dx, n.dy = nil, nil
}

func (n *logSumExpNotes) pull(lo, hi int) {
	for k := lo; k < hi; k++ {
		at, end := k*n.d, (k+1)*n.d
		vec.LogSumExpBackward(n.dx[at:end], n.x.val.Data[at:end], n.y.val.Data[k], n.dy[k])
	}
}
