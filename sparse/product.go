package sparse

import (
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Product is the product of a sparse matrix and a dense one (SpMM). The zero
// value of each option is the plain product; [Product.Into] computes it:
//
//	sparse.Product{A: a}.Into(y, x) // y = a·x
//
// Without values in A that is, for each row of A, the sum of the rows of x it
// points at. A stored zero, such as dropout leaves, is like one that is not
// stored.
type Product struct {
	A *CSR

	// Weights are what a row of x is multiplied with, in place of A's values,
	// which are not read then: a row for each nonzero, of a number for each head.
	// Of H numbers each belongs to a part of x's row, H parts of one length; as
	// many as x has columns are a factor for each element. nil: A's values.
	Weights *tensor.Dense

	Transpose bool // A's transpose times x; it is the gradient, with respect to x, of the same Product without
	Mean      bool // what a row of A adds up is divided by the number of its nonzeros, stored zeros too; not with Weights
	Add       bool // the product is added to what it goes into, which is overwritten otherwise

	// Own is added, too: to each row when its sum is made or, with Transpose, before its
	// first nonzero. So the one is the gradient of the other where Own is x, to the bits of
	// two operations. It has the shape of the result, and wants ones: no values or Weights, no Mean.
	Own *tensor.Dense
}

// Into sets dst to the product with x, or with Add adds it:
//
//	dst[i,:]       += Σ_k Values[k]·x[Cols[k],:]          for the nonzeros k of row i, in order
//	dst[i,h,:]     += Σ_k Weights[k,h]·x[Cols[k],h,:]     with Weights
//	dst[i,:]       += (Σ_k Values[k]·x[Cols[k],:]) / n_i  with Mean, of the n_i nonzeros of row i
//	dst[Cols[k],:] += Values[k]·x[i,:]                    with Transpose: for the rows i and their nonzeros k, in order
//	dst[Cols[k],:] += (Values[k] / n_i)·x[i,:]            with Transpose and Mean
//
// The first product with the transpose of a large matrix turns its structure, once,
// as [CSR.Transpose] does.
func (p Product) Into(dst, x *tensor.Dense) {
	p.check(dst, x)
	if p.Transpose {
		p.runT(dst, x)
	} else {
		p.run(dst, x)
	}
}

// check panics unless dst has the shape of the product with x.
func (p Product) check(dst, x *tensor.Dense) {
	given("sparse.Product", p.A, dst, x)
	op, fitting := "sparse.Product", p.A.multiplies(dst, x)
	if p.Transpose {
		op, fitting = "sparse.Product of the transpose", p.A.multiplies(x, dst)
	}
	switch {
	case dst.Overlaps(x) || p.Weights != nil && dst.Overlaps(p.Weights):
		err := tensor.Mismatch(op, dst, p.A, x)
		err.Why = "the destination overlaps an operand"
		panic(err)
	case p.Own != nil && (p.Weights != nil || p.Mean || p.A.Values != nil || p.A.left != nil):
		err := tensor.Mismatch(op, dst, p.A, x)
		err.Why = "Own is added to sums of rows, without values, Weights or Mean"
		panic(err)
	case p.Own != nil && !slices.Equal(p.Own.Shape(), dst.Shape()):
		panic(tensor.Mismatch(op, dst, p.A, x, p.Own))
	case p.Weights == nil && !fitting:
		panic(tensor.Mismatch(op, dst, p.A, x))
	case p.Weights == nil:
	case !fitting || !headed(p.A, p.Weights, x):
		panic(tensor.Mismatch(op, dst, p.A, p.Weights, x))
	case p.Mean:
		err := tensor.Mismatch(op, dst, p.A, p.Weights, x)
		err.Why = "a mean is of A's values, not of Weights"
		panic(err)
	}
}

// multiplies reports whether a·x has the shape of dst.
func (a *CSR) multiplies(dst, x *tensor.Dense) bool {
	return dst.Rows() == a.NumRows && x.Rows() == a.NumCols && dst.RowLen() == x.RowLen()
}

// values are what rows of x are multiplied with where there are no Weights; nil:
// ones.
func (p Product) values() []tensor.Float {
	if p.Weights != nil {
		return nil
	}
	return p.A.Values
}
