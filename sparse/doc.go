// Package sparse holds sparse matrices by rows and the kernels that graph
// networks are made of: products of a sparse and a dense matrix (sums, means and
// extremes of weighted rows), products and functions sampled at the nonzeros,
// softmax over the nonzeros of each row, and the attention that fuses them. It
// knows no gradients and no graphs: the kernels that compute a gradient are
// ordinary functions here.
//
// Its nouns are [CSR] and its [Product] with a dense array. Where a CSR stands for
// a graph its rows are destinations, its columns are sources, and nonzero k is
// in-edge k:
//
//	a, order, err := sparse.FromCOO(nodes, nodes, dst, src, nil)
//	sparse.Product{A: a}.Into(sum, x) // each node adds up its in-neighbours
//
// Arrays with a row for each nonzero (weights, logits) are in the order of the
// nonzeros, that is by row. An H-headed kernel reads a row of H·D elements as H
// heads of D, one head after another.
//
// A [Product], [Dots] and [Softmax] overwrite their destination, and with Add they add to it.
// Unless it says otherwise any other kernel adds. A destination must not overlap
// the operands. Sums are in the order of the nonzeros, so an element of the result
// depends on its own row (or column) of the matrix alone, and no bit on the number
// of threads, which share the rows of the result.
//
// Data, which the constructors take, are errors. Shapes are checked first, and a wrong one, or
// an array that is nil, panics with a [*tensor.ShapeError]; the contents of a CSR are not: they were when [New] made it, and kernels read
// wherever a wrong column points. One put together by hand should pass
// [CSR.Validate].
package sparse
