package sparse

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
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
			simd.NoTop(top)
			simd.TopRows(top, x.Data[lo:hi])
			clear(sum)
			simd.WeighRows(dst.Data[lo:hi], x.Data[lo:hi], top, sum)
			simd.DivideRows(dst.Data[lo:hi], sum)
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
