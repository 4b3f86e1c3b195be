package sparse

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// MaxDense sets dst to the largest element of each column among the rows of x that a
// row points at, and arg, of as many elements as dst, to the nonzero it came from, −1 in
// a row without nonzeros:
//
//	dst[i,j] = max_k x[Cols[k],j]    for the nonzeros k of row i
//
// a's values are not read. Of several that are equal the lowest nonzero wins. A NaN
// wins over any number, infinities are kept, and a row without nonzeros is zero. A nil
// arg is not wanted.
func MaxDense(dst *tensor.Dense, arg []int32, a *CSR, x *tensor.Dense) {
	setBest("sparse.MaxDense", dst, arg, a, x)
}

// MinDense is [MaxDense] with the smallest.
func MinDense(dst *tensor.Dense, arg []int32, a *CSR, x *tensor.Dense) {
	setBest("sparse.MinDense", dst, arg, a, x)
}

func setBest(op string, dst *tensor.Dense, arg []int32, a *CSR, x *tensor.Dense) {
	given(op, a, dst, x)
	if !a.multiplies(dst, x) {
		panic(tensor.Mismatch(op, dst, a, x))
	}
	if arg != nil && len(arg) != len(dst.Data) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(arg)}, slices.Clone(dst.Shape())}, Why: "arg wants a number for each element of dst"})
	}
	if x.RowLen() == 0 {
		return
	}
	k := bestKernels.Get().(*bestKernel)
	k.RowBest = spmm.RowBest{Gather: a.gather(x), Y: dst.Data, Arg: arg, Min: op == "sparse.MinDense"}
	k.Stream = passes(dst)
	if way := BestWay(a, x); way != (Way{}) {
		a.pass(way, x.Data, x.RowLen(), k)
	} else {
		a.run(x.RowLen(), k)
	}
	k.RowBest = spmm.RowBest{}
	bestKernels.Put(k)
}

// bestKernel is MaxDense of some rows.
type bestKernel struct{ spmm.RowBest }

var bestKernels = sync.Pool{New: func() any { return new(bestKernel) }}

func (k *bestKernel) rows(lo, hi int) { k.SetRows(lo, hi) }

func (k *bestKernel) begin(*passTask, int) {}
func (k *bestKernel) end(*passTask, int)   {}

// block is the rows of a panel in a tile: in blocks they would not know which nonzero is
// their first.
func (k *bestKernel) block(t *passTask, panel, _ int, g spmm.Gather) {
	b, at := k.RowBest, t.bounds[panel]*t.f+t.left
	b.Gather, b.Y, b.YStep = g, k.Y[at:], t.f
	if b.Arg != nil {
		b.Arg = k.Arg[at:]
	}
	b.SetRows(0, len(g.Offsets)-1)
}

// BestGrad adds the gradient of [MaxDense] and [MinDense] to dx, from arg and the
// gradient dy of the result:
//
//	dx[Cols[k],j] += dy[i,j]    for k = arg[i,j] ≥ 0, i ascending
//
// It goes by dx's rows, which are read out of the nonzeros that may have won, since
// writing to rows here and there is slower.
func BestGrad(dx *tensor.Dense, arg []int32, a *CSR, dy *tensor.Dense) {
	given("sparse.BestGrad", a, dx, dy)
	if !a.multiplies(dy, dx) || len(arg) != len(dy.Data) {
		panic(tensor.Mismatch("sparse.BestGrad", dx, a, dy))
	}
	f := dx.RowLen()
	if f == 0 {
		return
	}
	if a.NNZ()*f <= scatterWork && !a.turned() { // a few elements, by a's rows
		for at, k := range arg {
			if k >= 0 {
				dx.Data[int(a.Cols[k])*f+at%f] += dy.Data[at]
			}
		}
		return
	}
	t, perm := a.structureT()
	k := wonKernels.Get().(*wonKernel)
	k.RowWon = spmm.RowWon{Gather: t.gather(dy), Y: dx.Data, Arg: arg, Edges: perm}
	t.run(f, k)
	*k = wonKernel{}
	wonKernels.Put(k)
}

// wonKernel is the gradient of some rows of x.
type wonKernel struct{ spmm.RowWon }

var wonKernels = sync.Pool{New: func() any { return new(wonKernel) }}

func (k *wonKernel) rows(lo, hi int) { k.AddRows(lo, hi) }
