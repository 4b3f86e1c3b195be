package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Linear returns a(x·w + b) as one operation: a dense layer. x is as in
// [Var.MatMul], b has an element for each column of w or is nil.
func (x *Var) Linear(w, b *Var, a Activation) *Var {
	u, inPlace := a.fromResult()
	if !inPlace && a != Identity {
		return x.Linear(w, b, Identity).Activate(a)
	}
	xs := [...]*Var{x, w, b}
	n := len(xs)
	if b == nil {
		n--
	}
	op := Begin("Linear", xs[:n]...)
	if op.tape.shares(w) && x.csr == nil {
		y := x.MatMul(w)
		if b != nil {
			y = y.Add(b)
		}
		return y.Activate(a)
	}
	y := op.Unset(linearShape(x, w, b)...)
	scratch := 0
	if inPlace {
		scratch = len(y.val.Data)
	}
	if !op.Dry(scratch) {
		linear(&y.val, x, w, b)
		if inPlace {
			u.Forward(y.val.Data, y.val.Data, 1)
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		if !inPlace {
			pullLinear(x, w, b, dy)
			return
		}
		op.Scratch(scratch, func(buf []tensor.Float) {
			u.Backward(buf, dy.Data, y.val.Data, y.val.Data, 1)
			var dz tensor.Dense
			dz.Set(buf, y.val.Shape()...)
			pullLinear(x, w, b, &dz)
		})
	})
}

// linear sets y to x·w + b.
func linear(y *tensor.Dense, x, w, b *Var) {
	if x.csr == nil {
		var then tensor.Epilogue
		if b != nil {
			then.Bias = &b.val
		}
		tensor.MatMulThen(matrix(y), matrix(&x.val), &w.val, 0, then)
		return
	}
	clear(y.Data)
	multiply(y, x, w)
	if b != nil {
		addRow(y, b.val.Data)
	}
}

// fromResult returns the kernel of an activation whose slope the result alone
// tells, so that the argument need not be kept.
func (a Activation) fromResult() (u simd.Unary, ok bool) {
	switch a {
	case ReLU:
		return simd.ReLU, true
	case ELU:
		return simd.ELU, true
	case Sigmoid:
		return simd.Sigmoid, true
	case Tanh:
		return simd.Tanh, true
	}
	return 0, false
}

// linearShape checks the operands of Linear and returns the result's shape.
func linearShape(x, w, b *Var) []int {
	sh := slices.Clone(x.Shape())
	k := len(sh) - 1
	switch {
	case len(w.Value().Shape()) != 2 || sh[k] != w.Dim(0):
		panic(tensor.Mismatch("grad.Linear", x, w))
	case b != nil && len(b.Value().Data) != w.Dim(1):
		panic(tensor.Mismatch("grad.Linear", x, w, b))
	}
	sh[k] = w.Dim(1)
	return sh
}

// addRow adds b to each row of y along its last axis.
func addRow(y *tensor.Dense, b []tensor.Float) {
	d := len(b)
	for i := 0; i+d <= len(y.Data) && d > 0; i += d {
		addTo(y.Data[i:i+d], b)
	}
}

// pullLinear adds the gradients of x·w + b.
func pullLinear(x, w, b *Var, dz *tensor.Dense) {
	pullProduct(x, w, dz)
	if b == nil {
		return
	}
	if db := b.Grad(); db != nil {
		d := len(db.Data)
		for i := 0; i+d <= len(dz.Data) && d > 0; i += d {
			addTo(db.Data, dz.Data[i:i+d])
		}
	}
}
