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
	n := leading(y.Shape())
	a, c := x.val.Reshape(n, k), y.val.Reshape(n, w.Dim(1))
	tensor.MatMul(c, a, &w.val, 0)
	return op.Record(y, func(dy *tensor.Dense) {
		dc := dy.Reshape(n, w.Dim(1))
		if dx := x.Grad(); dx != nil {
			tensor.MatMul(dx.Reshape(n, k), dc, &w.val, tensor.TransB)
		}
		if dw := w.Grad(); dw != nil {
			tensor.MatMul(dw, a, dc, tensor.TransA)
		}
	})
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
