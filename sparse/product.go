package sparse

import "github.com/edgewise-ml/edgewise/tensor"

// MulDense adds the product of a and x to dst; without values that is, for each
// row, the sum of the rows of x it points at:
//
//	dst[i,:] += Σ_k Values[k]·x[Cols[k],:]    for the nonzeros k of row i, in order
//
// A stored zero, such as dropout leaves, is like one that is not stored.
func MulDense(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if dst.Rows() != a.NumRows || x.Rows() != a.NumCols || dst.RowLen() != x.RowLen() {
		panic(tensor.Mismatch("sparse.MulDense", dst, a, x))
	}
	f := x.RowLen()
	a.eachRow(f, func(i int) {
		cols, values := a.Row(i)
		row := dst.Data[i*f : i*f+f]
		for k, c := range cols {
			from := x.Data[int(c)*f : int(c)*f+f]
			switch {
			case values == nil:
				add(row, from)
			case values[k] != 0:
				axpy(row, values[k], from)
			}
		}
	})
}

// MulDenseT adds the product of the transpose of a and x to dst. It is the
// gradient of [MulDense] with respect to x and, where a holds features, that of
// their weights:
//
//	dst[Cols[k],:] += Values[k]·x[i,:]    for the rows i and their nonzeros k, in order
func MulDenseT(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if dst.Rows() != a.NumCols || x.Rows() != a.NumRows || dst.RowLen() != x.RowLen() {
		panic(tensor.Mismatch("sparse.MulDenseT", dst, a, x))
	}
	f := x.RowLen()
	for i := range a.NumRows {
		cols, values := a.Row(i)
		row := x.Data[i*f : i*f+f]
		for k, c := range cols {
			to := dst.Data[int(c)*f : int(c)*f+f]
			switch {
			case values == nil:
				add(to, row)
			case values[k] != 0:
				axpy(to, values[k], row)
			}
		}
	}
}
