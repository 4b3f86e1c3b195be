package sparse

import (
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// SoftmaxRows overwrites dst with the softmax of x over the nonzeros of each row
// of a, each column of x on its own. x and dst have a row for each nonzero and
// may be the same array:
//
//	dst[k,j] = exp(x[k,j] − top) / Σ_k exp(x[k,j] − top)    top = max_k x[k,j]
//
// Entries of +∞ share the weight evenly and leave the others none. Where all
// entries are −∞ the result is zero: nothing is attended to. A NaN makes the
// whole column of its row NaN.
func SoftmaxRows(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if x.Rows() != a.NNZ() || !slices.Equal(dst.Shape(), x.Shape()) {
		panic(tensor.Mismatch("sparse.SoftmaxRows", dst, a, x))
	}
	n := x.RowLen()
	buf := borrow(2 * n)
	defer scratch.Put(buf)
	top, sum := (*buf)[:n], (*buf)[n:]
	for i := range a.NumRows {
		lo, hi := int(a.Offsets[i])*n, int(a.Offsets[i+1])*n
		if lo < hi {
			topRows(top, x.Data[lo:hi])
			weighRows(dst.Data[lo:hi], x.Data[lo:hi], top, sum)
			divideRows(dst.Data[lo:hi], sum)
		}
	}
}

// SoftmaxRowsGrad adds the gradient of [SoftmaxRows] to dx, from its result y
// and the result's gradient dy:
//
//	dx[k,j] += y[k,j]·(dy[k,j] − Σ_k y[k,j]·dy[k,j])
func SoftmaxRowsGrad(dx *tensor.Dense, a *CSR, y, dy *tensor.Dense) {
	if y.Rows() != a.NNZ() || !slices.Equal(dx.Shape(), y.Shape()) || !slices.Equal(dy.Shape(), y.Shape()) {
		panic(tensor.Mismatch("sparse.SoftmaxRowsGrad", dx, a, y, dy))
	}
	n := y.RowLen()
	buf := borrow(n)
	defer scratch.Put(buf)
	c := *buf
	for i := range a.NumRows {
		clear(c)
		lo, hi := int(a.Offsets[i])*n, int(a.Offsets[i+1])*n
		for k := lo; k < hi; k += n {
			for j := range c {
				c[j] += y.Data[k+j] * dy.Data[k+j]
			}
		}
		for k := lo; k < hi; k += n {
			for j := range c {
				dx.Data[k+j] += y.Data[k+j] * (dy.Data[k+j] - c[j])
			}
		}
	}
}

// topRows sets top to the maximum of each column of x, a matrix of len(top)
// columns and at least one row. A NaN is above everything.
func topRows(top, x []tensor.Float) {
	n := copy(top, x)
	for k := n; k < len(x); k += n {
		for j, v := range x[k : k+n] {
			if v > top[j] || v != v {
				top[j] = v
			}
		}
	}
}

// weighRows sets y to exp(x − top) and sum to the sum of each column of it. y
// may be x.
func weighRows(y, x, top, sum []tensor.Float) {
	clear(sum)
	n := len(top)
	for k := 0; k < len(x); k += n {
		to := y[k : k+n]
		for j, v := range x[k : k+n] {
			e := weigh(v, top[j])
			to[j] = e
			sum[j] += e
		}
	}
}

// divideRows divides each column of y by its sum, unless that is zero.
func divideRows(y, sum []tensor.Float) {
	n := len(sum)
	for k := 0; k < len(y); k += n {
		for j, s := range sum {
			if s != 0 {
				y[k+j] /= s
			}
		}
	}
}

// weigh is exp(x − top) for x ≤ top. Two infinities of one sign have no
// difference: +∞ weighs 1, and −∞ under −∞ nothing.
func weigh(x, top tensor.Float) tensor.Float {
	switch {
	case x != top:
		return tensor.Float(math.Exp(float64(x - top)))
	case math.IsInf(float64(x), -1):
		return 0
	}
	return 1
}
