package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
