package sparse

import "github.com/edgewise-ml/edgewise/tensor"

// MulHeads adds to dst the product with a matrix of a's structure for each
// head; w has a row of H values for each nonzero, and a's own are not read:
//
//	dst[i,h,:] += Σ_k w[k,h]·x[Cols[k],h,:]    for the nonzeros k of row i, in order
func MulHeads(dst *tensor.Dense, a *CSR, w, x *tensor.Dense) {
	if dst.Rows() != a.NumRows || x.Rows() != a.NumCols || dst.RowLen() != x.RowLen() || !headed(a, w, x) {
		panic(tensor.Mismatch("sparse.MulHeads", dst, a, w, x))
	}
	f, heads := x.RowLen(), w.RowLen()
	a.eachRow(f, func(i int) {
		row := dst.Data[i*f : i*f+f]
		for k := int(a.Offsets[i]); k < int(a.Offsets[i+1]); k++ {
			c := int(a.Cols[k])
			axpyHeads(row, w.Data[k*heads:k*heads+heads], x.Data[c*f:c*f+f])
		}
	})
}

// MulHeadsT adds to dst the product with the transposes of the matrices of
// [MulHeads], whose gradient with respect to x it is:
//
//	dst[Cols[k],h,:] += w[k,h]·x[i,h,:]    for the rows i and their nonzeros k, in order
func MulHeadsT(dst *tensor.Dense, a *CSR, w, x *tensor.Dense) {
	if dst.Rows() != a.NumCols || x.Rows() != a.NumRows || dst.RowLen() != x.RowLen() || !headed(a, w, x) {
		panic(tensor.Mismatch("sparse.MulHeadsT", dst, a, w, x))
	}
	f, heads := x.RowLen(), w.RowLen()
	for i := range a.NumRows {
		row := x.Data[i*f : i*f+f]
		for k := int(a.Offsets[i]); k < int(a.Offsets[i+1]); k++ {
			c := int(a.Cols[k])
			axpyHeads(dst.Data[c*f:c*f+f], w.Data[k*heads:k*heads+heads], row)
		}
	}
}

// DotHeads adds to dst, for each nonzero and head, the inner product of its
// column's row of x and its row's row of y. H is dst's row length:
//
//	dst[k,h] += ⟨x[Cols[k],h,:], y[i,h,:]⟩    for the nonzeros k of each row i
func DotHeads(dst *tensor.Dense, a *CSR, x, y *tensor.Dense) {
	if x.Rows() != a.NumCols || y.Rows() != a.NumRows || x.RowLen() != y.RowLen() || !headed(a, dst, x) {
		panic(tensor.Mismatch("sparse.DotHeads", dst, a, x, y))
	}
	f, heads := x.RowLen(), dst.RowLen()
	a.eachRow(f, func(i int) {
		row := y.Data[i*f : i*f+f]
		for k := int(a.Offsets[i]); k < int(a.Offsets[i+1]); k++ {
			c := int(a.Cols[k])
			dotHeads(dst.Data[k*heads:k*heads+heads], x.Data[c*f:c*f+f], row)
		}
	})
}

// headed reports whether w has a row for each nonzero of a and as many heads as
// a row of x can be cut into.
func headed(a *CSR, w, x *tensor.Dense) bool {
	heads, f := w.RowLen(), x.RowLen()
	return w.Rows() == a.NNZ() && (f == 0 || heads > 0 && f%heads == 0)
}
