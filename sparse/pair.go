package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Pair sets a row of dst for each nonzero, from its column's row of x and its
// row's row of y:
//
//	dst[k,:] = x[Cols[k],:] op y[i,:]    for the nonzeros k of each row i
func Pair(dst *tensor.Dense, a *CSR, op tensor.Binary, x, y *tensor.Dense) {
	if !fits(dst, a.NNZ(), x.RowLen()) || x.Rows() != a.NumCols || !fits(y, a.NumRows, x.RowLen()) {
		panic(tensor.Mismatch("sparse.Pair", dst, a, x, y))
	}
	setPairs(dst, a, x, spmm.EdgePair{Op: vec.Binary(op), Y: y.Data})
}

// Gather sets the row of dst for each nonzero to its column's row of x:
//
//	dst[k,:] = x[Cols[k],:]
func Gather(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if !fits(dst, a.NNZ(), x.RowLen()) || x.Rows() != a.NumCols {
		panic(tensor.Mismatch("sparse.Gather", dst, a, x))
	}
	setPairs(dst, a, x, spmm.EdgePair{Copy: true})
}

func setPairs(dst *tensor.Dense, a *CSR, x *tensor.Dense, p spmm.EdgePair) {
	if x.RowLen() == 0 {
		return
	}
	k := pairKernels.Get().(*pairKernel)
	k.EdgePair = p
	k.Gather, k.Z = a.gather(x), dst.Data
	a.run(x.RowLen(), k)
	*k = pairKernel{}
	pairKernels.Put(k)
}

// pairKernel is Pair of some rows.
type pairKernel struct{ spmm.EdgePair }

var pairKernels = sync.Pool{New: func() any { return new(pairKernel) }}

func (k *pairKernel) rows(lo, hi int) { k.SetRows(lo, hi) }
