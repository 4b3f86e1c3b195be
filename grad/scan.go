package grad

import "github.com/edgewise-ml/edgewise/tensor"

// eachRow calls f with the range of each row along the last axis.
func (x *Var) eachRow(f func(lo, hi int)) {
	d := x.Dim(-1)
	for i := range leading(x.Shape()) {
		f(i*d, i*d+d)
	}
}

// CumSum returns the sums up to each element of the last axis, added in float64.
func (x *Var) CumSum() *Var {
	op := Begin("CumSum", x)
	y := op.freshLike(x)
	if !op.Dry(0) {
		tensor.CumSum(&y.val, &x.val)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		x.eachRow(func(lo, hi int) {
			s := 0.0
			for i := hi - 1; i >= lo; i-- {
				s += float64(dy.Data[i])
				dx[i] += tensor.Float(s)
			}
		})
	})
}

// CumProd returns the products up to each element of the last axis, multiplied in
// float64. The gradient is right for zeros too.
func (x *Var) CumProd() *Var {
	op := Begin("CumProd", x)
	y := op.freshLike(x)
	if !op.Dry(0) {
		tensor.CumProd(&y.val, &x.val)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		withSums(x.Dim(-1), func(after []float64) {
			x.eachRow(func(lo, hi int) { pullCumProd(dx[lo:hi], dy.Data[lo:hi], x.val.Data[lo:hi], after) })
		})
	})
}

// pullCumProd adds the gradient of one row. With the product of what lies before
// element i called before, and after = Σ_{j≥i} dy_j·Π_{i<k≤j} x_k, it is
// before·after: no division.
func pullCumProd(dx, dy, x []tensor.Float, after []float64) {
	for i := len(x) - 1; i >= 0; i-- {
		after[i] = float64(dy[i])
		if i+1 < len(x) {
			after[i] += float64(x[i+1]) * after[i+1]
		}
	}
	before := 1.0
	for i, v := range x {
		dx[i] += tensor.Float(before * after[i])
		before *= float64(v)
	}
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
	step := m
	if taps == 1 {
		step = 0
	}
	each := func(f func(tap, to, from int)) {
		for r := range rows {
			for i := range n {
				for j := range m {
					f(r*step+j, r*n+i, r*n+(i-j+n)%n)
				}
			}
		}
	}
	y := op.newLike(x)
	if !op.Dry(0) {
		each(func(j, at, from int) { y.val.Data[at] += k.val.Data[j] * x.val.Data[from] })
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx, dk := x.Grad(), k.Grad()
		each(func(j, at, from int) {
			if dx != nil {
				dx.Data[from] += k.val.Data[j] * dy.Data[at]
			}
			if dk != nil {
				dk.Data[j] += x.val.Data[from] * dy.Data[at]
			}
		})
	})
}

// Outer returns the outer products of the last axes: of …×A and …×B …×A×B. The
// axes before broadcast.
func (x *Var) Outer(y *Var) *Var { return x.InsertAxis(-1).Mul(y.InsertAxis(-2)) }
