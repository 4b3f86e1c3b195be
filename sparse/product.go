package sparse

import "github.com/edgewise-ml/edgewise/tensor"

// MulDense adds the product of a and x to dst; without values that is, for each
// row, the sum of the rows of x it points at:
//
//	dst[i,:] += Σ_k Values[k]·x[Cols[k],:]    for the nonzeros k of row i, in order
//
// A stored zero, such as dropout leaves, is like one that is not stored.
func MulDense(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !a.multiplies(dst, x) {
		panic(tensor.Mismatch("sparse.MulDense", dst, a, x))
	}
	product{a: a, values: a.Values}.addTo(dst, x)
}

// SetMulDense is [MulDense] to zeros, whatever dst held.
func SetMulDense(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !a.multiplies(dst, x) {
		panic(tensor.Mismatch("sparse.SetMulDense", dst, a, x))
	}
	product{a: a, values: a.Values, set: true}.addTo(dst, x)
}

// MulDenseT adds the product of the transpose of a and x to dst. It is the
// gradient of [MulDense] with respect to x and, where a holds features, that of
// their weights:
//
//	dst[Cols[k],:] += Values[k]·x[i,:]    for the rows i and their nonzeros k, in order
//
// This and the other products with a transpose turn the structure of a large
// matrix once, as [CSR.Transpose] does.
func MulDenseT(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !a.multipliesT(dst, x) {
		panic(tensor.Mismatch("sparse.MulDenseT", dst, a, x))
	}
	product{a: a, values: a.Values}.addToT(dst, x)
}

// SetMulDenseT is [MulDenseT] to zeros, whatever dst held.
func SetMulDenseT(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !a.multipliesT(dst, x) {
		panic(tensor.Mismatch("sparse.SetMulDenseT", dst, a, x))
	}
	product{a: a, values: a.Values, set: true}.addToT(dst, x)
}

// MeanDense adds to dst the mean, over each row's nonzeros, of what [MulDense]
// adds up. A row without nonzeros adds nothing; a stored zero counts:
//
//	dst[i,:] += (Σ_k Values[k]·x[Cols[k],:]) / n_i    for the n_i nonzeros k of row i
func MeanDense(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !a.multiplies(dst, x) {
		panic(tensor.Mismatch("sparse.MeanDense", dst, a, x))
	}
	product{a: a, values: a.Values, mean: true}.addTo(dst, x)
}

// SetMeanDense is [MeanDense] to zeros, whatever dst held.
func SetMeanDense(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !a.multiplies(dst, x) {
		panic(tensor.Mismatch("sparse.SetMeanDense", dst, a, x))
	}
	product{a: a, values: a.Values, mean: true, set: true}.addTo(dst, x)
}

// MeanDenseT is the gradient of [MeanDense] with respect to x:
//
//	dst[Cols[k],:] += (Values[k] / n_i)·x[i,:]    for the rows i and their n_i nonzeros k, in order
func MeanDenseT(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !a.multipliesT(dst, x) {
		panic(tensor.Mismatch("sparse.MeanDenseT", dst, a, x))
	}
	product{a: a, values: a.Values, mean: true}.addToT(dst, x)
}

// SetMeanDenseT is [MeanDenseT] to zeros, whatever dst held.
func SetMeanDenseT(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !a.multipliesT(dst, x) {
		panic(tensor.Mismatch("sparse.SetMeanDenseT", dst, a, x))
	}
	product{a: a, values: a.Values, mean: true, set: true}.addToT(dst, x)
}

// multiplies reports whether a·x has the shape of dst.
func (a *CSR) multiplies(dst, x *tensor.Dense) bool {
	return dst.Rows() == a.NumRows && x.Rows() == a.NumCols && dst.RowLen() == x.RowLen()
}

// multipliesT reports whether aᵀ·x has the shape of dst.
func (a *CSR) multipliesT(dst, x *tensor.Dense) bool {
	return dst.Rows() == a.NumCols && x.Rows() == a.NumRows && dst.RowLen() == x.RowLen()
}
