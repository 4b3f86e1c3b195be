package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// MatMul returns the product of the matrices x and w. x may be sparse, or have
// more axes: then its last axis is multiplied and the others stay.
func (x *Var) MatMul(w *Var) *Var {
	op := Begin("MatMul", x, w)
	sh := x.Shape()
	k := sh[len(sh)-1]
	if len(w.Value().Shape()) != 2 || k != w.Dim(0) {
		panic(tensor.Mismatch("grad.MatMul", x, w))
	}
	if x.csr != nil {
		return op.matMulSparse(x, w)
	}
	out := slices.Clone(sh)
	out[len(out)-1] = w.Dim(1)
	y := op.New(out...)
	tensor.MatMul(matrix(&y.val), matrix(&x.val), &w.val, 0)
	return op.Record(y, func(dy *tensor.Dense) {
		dy = matrix(dy)
		if dx := x.Grad(); dx != nil {
			tensor.MatMul(matrix(dx), dy, &w.val, tensor.TransB)
		}
		if dw := w.Grad(); dw != nil {
			tensor.MatMul(dw, matrix(&x.val), dy, tensor.TransA)
		}
	})
}

// matrix returns x as a matrix whose rows are its last axis.
func matrix(x *tensor.Dense) *tensor.Dense {
	if x.Axes() == 2 {
		return x
	}
	return x.Reshape(leading(x.Shape()), x.Dim(-1))
}

// matMulSparse is MatMul of a sparse x, which has no gradient.
func (op Op) matMulSparse(x, w *Var) *Var {
	y := op.New(x.Shape()[0], w.Dim(1))
	sparse.MulDense(&y.val, x.csr, &w.val)
	return op.Record(y, func(dy *tensor.Dense) {
		if dw := w.Grad(); dw != nil {
			sparse.MulDenseT(dw, x.csr, dy)
		}
	})
}
