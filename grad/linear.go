package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/sparse"
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
		var then tensor.Epilogue
		if b != nil {
			then.Bias = &b.val
		}
		if inPlace {
			then.Act = tensor.Activate(u, 1)
		}
		multiplyThen(&y.val, x, w, then)
		if inPlace && x.csr != nil {
			tensor.Apply(&y.val, &y.val, u, 1)
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		if !inPlace {
			pullLinear(x, w, b, dy)
			return
		}
		op.Scratch(scratch, func(buf []tensor.Float) {
			var dz tensor.Dense
			dz.Set(buf, y.val.Shape()...)
			pullUnary(&dz, dy, y, y, kernel{u, 1})
			pullLinear(x, w, b, &dz)
		})
	})
}

// multiplyThen sets y to the product of x and w and ends it; of a sparse x the
// activation is left to the caller.
func multiplyThen(y *tensor.Dense, x, w *Var, then tensor.Epilogue) {
	if x.csr == nil {
		tensor.MatMulThen(matrix(y), matrix(&x.val), &w.val, 0, then)
		return
	}
	clear(y.Data)
	sparse.MulDense(y, x.csr, &w.val)
	if then.Bias != nil {
		tensor.Add(y, y, then.Bias)
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

// pullLinear adds the gradients of x·w + b.
func pullLinear(x, w, b *Var, dz *tensor.Dense) {
	pullProduct(x, w, dz)
	if b == nil {
		return
	}
	if db := b.Grad(); db != nil {
		tensor.CombineGradY(db, dz, dz, &b.val, simd.Add)
	}
}
