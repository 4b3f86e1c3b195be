package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// MulHeads adds to dst the product with a matrix of a's structure for each
// head; w has a row of H values for each nonzero, and a's own are not read:
//
//	dst[i,h,:] += Σ_k w[k,h]·x[Cols[k],h,:]    for the nonzeros k of row i, in order
func MulHeads(dst *tensor.Dense, a *CSR, w, x *tensor.Dense) {
	if !a.multiplies(dst, x) || !headed(a, w, x) {
		panic(tensor.Mismatch("sparse.MulHeads", dst, a, w, x))
	}
	product{a: a, weights: w}.addTo(dst, x)
}

// SetMulHeads is [MulHeads] of a dst of zeros: it overwrites whatever dst holds.
func SetMulHeads(dst *tensor.Dense, a *CSR, w, x *tensor.Dense) {
	if !a.multiplies(dst, x) || !headed(a, w, x) {
		panic(tensor.Mismatch("sparse.SetMulHeads", dst, a, w, x))
	}
	product{a: a, weights: w, set: true}.addTo(dst, x)
}

// MulHeadsT adds to dst the product with the transposes of the matrices of
// [MulHeads], whose gradient with respect to x it is:
//
//	dst[Cols[k],h,:] += w[k,h]·x[i,h,:]    for the rows i and their nonzeros k, in order
func MulHeadsT(dst *tensor.Dense, a *CSR, w, x *tensor.Dense) {
	if !a.multipliesT(dst, x) || !headed(a, w, x) {
		panic(tensor.Mismatch("sparse.MulHeadsT", dst, a, w, x))
	}
	product{a: a, weights: w}.addToT(dst, x)
}

// SetMulHeadsT is [MulHeadsT] to zeros, whatever dst held.
func SetMulHeadsT(dst *tensor.Dense, a *CSR, w, x *tensor.Dense) {
	if !a.multipliesT(dst, x) || !headed(a, w, x) {
		panic(tensor.Mismatch("sparse.SetMulHeadsT", dst, a, w, x))
	}
	product{a: a, weights: w, set: true}.addToT(dst, x)
}

// MulRows adds to dst, for each row, the sum of the rows of x it points at, each
// multiplied by a whole row of weights; w has a row as long as x's for each
// nonzero, and a's own values are not read:
//
//	dst[i,:] += Σ_k w[k,:]·x[Cols[k],:]    for the nonzeros k of row i, in order
func MulRows(dst *tensor.Dense, a *CSR, w, x *tensor.Dense) {
	if !a.multiplies(dst, x) || !fits(w, a.NNZ(), x.RowLen()) {
		panic(tensor.Mismatch("sparse.MulRows", dst, a, w, x))
	}
	product{a: a, weights: w}.addTo(dst, x)
}

// MulRowsT is the gradient of [MulRows] with respect to x:
//
//	dst[Cols[k],:] += w[k,:]·x[i,:]    for the rows i and their nonzeros k, in order
func MulRowsT(dst *tensor.Dense, a *CSR, w, x *tensor.Dense) {
	if !a.multipliesT(dst, x) || !fits(w, a.NNZ(), x.RowLen()) {
		panic(tensor.Mismatch("sparse.MulRowsT", dst, a, w, x))
	}
	product{a: a, weights: w}.addToT(dst, x)
}

// DotHeads adds to dst, for each nonzero and head, the inner product of its
// column's row of x and its row's row of y. H is dst's row length:
//
//	dst[k,h] += ⟨x[Cols[k],h,:], y[i,h,:]⟩    for the nonzeros k of each row i
func DotHeads(dst *tensor.Dense, a *CSR, x, y *tensor.Dense) {
	if !dots(dst, a, x, y) {
		panic(tensor.Mismatch("sparse.DotHeads", dst, a, x, y))
	}
	dotHeads(dst, a, x, y, false)
}

// SetDotHeads is [DotHeads] to zeros, whatever dst held.
func SetDotHeads(dst *tensor.Dense, a *CSR, x, y *tensor.Dense) {
	if !dots(dst, a, x, y) {
		panic(tensor.Mismatch("sparse.SetDotHeads", dst, a, x, y))
	}
	dotHeads(dst, a, x, y, true)
}

// dots reports whether dst has a row of inner products of x and y for each
// nonzero of a.
func dots(dst *tensor.Dense, a *CSR, x, y *tensor.Dense) bool {
	return x.Rows() == a.NumCols && y.Rows() == a.NumRows && x.RowLen() == y.RowLen() && headed(a, dst, x)
}

func dotHeads(dst *tensor.Dense, a *CSR, x, y *tensor.Dense, set bool) {
	if x.RowLen() == 0 {
		if set {
			dst.Zero()
		}
		return
	}
	k := dotKernels.Get().(*dotKernel)
	k.EdgeDot = simd.EdgeDot{Gather: a.gather(x), Y: y.Data, Z: dst.Data, Heads: dst.RowLen(), Set: set}
	k.Past = passes(dst)
	a.run(x.RowLen(), k)
	*k = dotKernel{}
	dotKernels.Put(k)
}

// dotKernel is DotHeads of some rows.
type dotKernel struct{ simd.EdgeDot }

var dotKernels = sync.Pool{New: func() any { return new(dotKernel) }}

func (k *dotKernel) rows(lo, hi int) { k.AddRows(lo, hi) }

// headed reports whether w has a row for each nonzero of a and as many heads as
// a row of x can be cut into.
func headed(a *CSR, w, x *tensor.Dense) bool {
	heads, f := w.RowLen(), x.RowLen()
	return w.Rows() == a.NNZ() && (f == 0 || heads > 0 && f%heads == 0)
}

// farFrom is the size of a table, in bytes, from which its rows are fetched
// ahead: it is beyond the second cache of a core.
const farFrom = 1 << 20

// passes reports whether a result that is set passes by the caches.
func passes(dst *tensor.Dense) bool { return len(dst.Data) >= simd.PastFrom }

// gather returns how a's nonzeros point at the rows of x.
func (a *CSR) gather(x *tensor.Dense) simd.Gather {
	return simd.Gather{X: x.Data, Offsets: a.Offsets, Cols: a.Cols, F: x.RowLen(), Far: 4*len(x.Data) > farFrom}
}
