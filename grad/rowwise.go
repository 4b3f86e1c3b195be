package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Softmax normalises x along the last axis: eˣ/Σeˣ. A row of −Inf alone becomes
// zeros.
func (x *Var) Softmax() *Var { return x.rowwise("Softmax", tensor.SoftmaxRows, tensor.SoftmaxGrad) }

// LogSoftmax returns x − log Σeˣ along the last axis.
func (x *Var) LogSoftmax() *Var {
	return x.rowwise("LogSoftmax", tensor.LogSoftmaxRows, tensor.LogSoftmaxGrad)
}

// rowwise records a function of rows and its gradient, which is one of the
// result.
func (x *Var) rowwise(name string, f func(y, x *tensor.Dense), pull func(dx, dy, y *tensor.Dense)) *Var {
	op := Begin(name, x)
	y := op.freshLike(x)
	if !op.dry(0) {
		f(&y.val, &x.val)
	}
	return op.recordBy(y, note(op, rowwiseNotes{x, y, pull}))
}

// rowwiseNotes is the pullback of a function of rows.
type rowwiseNotes struct {
	x, y *Var
	pull func(dx, dy, y *tensor.Dense)
}

// Pull adds to x's gradient.
func (n *rowwiseNotes) Pull(dy *tensor.Dense) { n.pull(n.x.Grad(), dy, &n.y.val) }

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
	n := note(op, logSumExpNotes{x: x, y: op.Fresh(shape...), d: x.Dim(-1)})
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

// CumSum returns the sums up to each element of the last axis, added in float64.
func (x *Var) CumSum() *Var {
	op := Begin("CumSum", x)
	y := op.freshLike(x)
	if !op.dry(0) {
		tensor.CumSum(&y.val, &x.val)
	}
	return op.Record(y, func(dy *tensor.Dense) { dense.CumSumGrad(x.Grad().Data, dy.Data, x.Dim(-1)) })
}

// CumProd returns the products up to each element of the last axis, multiplied in
// float64. The gradient is right for zeros too.
func (x *Var) CumProd() *Var {
	op := Begin("CumProd", x)
	y := op.freshLike(x)
	if !op.dry(0) {
		tensor.CumProd(&y.val, &x.val)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dense.CumProdGrad(x.Grad().Data, dy.Data, x.val.Data, x.Dim(-1))
	})
}

// CircularConv returns the circular convolution along the last axis with k, whose
// taps are at most as many as the elements:
//
//	y_i = Σ_j k_j·x_{i−j mod n}
//
// so that tap j moves x by j; [Var.Roll] by minus half the taps centres it. k has
// x's leading axes, or is one row for all.
func (x *Var) CircularConv(k *Var) *Var {
	op := Begin("CircularConv", x, k)
	n, m := x.Value().Dim(-1), k.Value().Dim(-1)
	rows, taps := leading(x.Shape()), leading(k.Shape())
	if m > n || taps != 1 && taps != rows {
		panic(tensor.Mismatch("grad.CircularConv", x, k))
	}
	conv := dense.CircularConv{X: x.val.Data, K: k.val.Data, N: n, Taps: m}
	y := op.newLike(x)
	if !op.dry(0) {
		conv.Forward(y.val.Data)
	}
	return op.Record(y, func(dy *tensor.Dense) { conv.Backward(gradOf(x), gradOf(k), dy.Data) })
}

// Outer returns the outer products of the last axes: of …×A and …×B …×A×B. The
// axes before broadcast.
func (x *Var) Outer(y *Var) *Var { return x.InsertAxis(-1).Mul(y.InsertAxis(-2)) }

// Roll returns x with the last axis rolled: element i moves to i+shift, and
// what falls off one end enters at the other.
func (x *Var) Roll(shift int) *Var {
	op := Begin("Roll", x)
	y := op.freshLike(x)
	if !op.dry(0) {
		tensor.Roll(&y.val, &x.val, -1, shift)
	}
	return op.Record(y, func(dy *tensor.Dense) { tensor.RollAdd(x.Grad(), dy, -1, -shift) })
}
