package grad

import "github.com/edgewise-ml/edgewise/tensor"

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
	n := notes[rowwiseNotes](op)
	*n = rowwiseNotes{x, y, pull}
	return op.recordBy(y, n)
}

// rowwiseNotes is the pullback of a function of rows.
type rowwiseNotes struct {
	x, y *Var
	pull func(dx, dy, y *tensor.Dense)
}

// Pull adds to x's gradient.
func (n *rowwiseNotes) Pull(dy *tensor.Dense) { n.pull(n.x.Grad(), dy, &n.y.val) }
