package sparse

import "github.com/edgewise-ml/edgewise/tensor"

// DenseAbove is the density above which a product with a dense array, and its
// weight gradient, is faster if the matrix is dense too: with 2708×1433 elements
// and AVX2 the two storages met near 0.15 for products 8 wide and near 0.35 for
// products 64 wide. BenchmarkFeatures measures it.
const DenseAbove = 0.25

// Density returns how many of a's elements are stored, as a fraction; duplicates
// count. That of a matrix without elements is 0.
func (a *CSR) Density() float64 {
	return float64(a.NNZ()) / max(1, float64(a.NumRows)*float64(a.NumCols))
}

// Features returns a as it is or, if its density is above a limit, as a dense
// array: the faster of the two to multiply with, for a limit of [DenseAbove].
func Features(a *CSR, above float64) tensor.Array {
	if a.Density() > above {
		return a.Dense()
	}
	return a
}
