package sparse

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// MaxDense sets dst to the largest element of each column among the weighted
// rows of x that a row points at, and arg, of as many elements as dst, to the
// nonzero it came from, −1 in a row without nonzeros:
//
//	dst[i,j] = max_k w[k,h]·x[Cols[k],j]    for the nonzeros k of row i, j of head h
//
// w has a row for each nonzero: one number, one for each head, or one for each
// column; nil is all ones. a's own values are not read. Of several that are equal the
// lowest nonzero wins. A NaN wins over any number, infinities are kept, and a
// row without nonzeros is zero. A nil arg is not wanted.
func MaxDense(dst *tensor.Dense, arg []int32, a *CSR, w, x *tensor.Dense) {
	setBest("sparse.MaxDense", dst, arg, a, w, x)
}

// MinDense is [MaxDense] with the smallest.
func MinDense(dst *tensor.Dense, arg []int32, a *CSR, w, x *tensor.Dense) {
	setBest("sparse.MinDense", dst, arg, a, w, x)
}

func setBest(op string, dst *tensor.Dense, arg []int32, a *CSR, w, x *tensor.Dense) {
	if !a.multiplies(dst, x) || w != nil && !headed(a, w, x) {
		panic(mismatch(op, dst, a, w, x))
	}
	if arg != nil && len(arg) != len(dst.Data) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{{len(arg)}, slices.Clone(dst.Shape())}, Why: "arg wants a number for each element of dst"})
	}
	if x.RowLen() == 0 {
		return
	}
	k := bestKernels.Get().(*bestKernel)
	k.RowBest = simd.RowBest{Gather: a.gather(x), Y: dst.Data, Arg: arg, Min: op == "sparse.MinDense"}
	if w != nil {
		k.W, k.Heads = w.Data, w.RowLen()
	}
	a.run(x.RowLen(), k)
	k.RowBest = simd.RowBest{}
	bestKernels.Put(k)
}

// mismatch is tensor.Mismatch of the operands that are there.
func mismatch(op string, xs ...tensor.Array) *tensor.ShapeError {
	return tensor.Mismatch(op, slices.DeleteFunc(xs, func(x tensor.Array) bool {
		d, ok := x.(*tensor.Dense)
		return ok && d == nil
	})...)
}

// bestKernel is MaxDense of some rows.
type bestKernel struct{ simd.RowBest }

var bestKernels = sync.Pool{New: func() any { return new(bestKernel) }}

// numbers keeps arguments that are not wanted.
var numbers = sync.Pool{New: func() any { return new([]int32) }}

func (k *bestKernel) rows(lo, hi int) {
	if k.Arg != nil {
		k.SetRows(lo, hi)
		return
	}
	buf := numbers.Get().(*[]int32)
	defer numbers.Put(buf)
	step := max(1, meanWork/k.F)
	if len(*buf) < step*k.F {
		*buf = make([]int32, step*k.F)
	}
	part := k.RowBest
	for ; lo < hi; lo += step {
		n := min(step, hi-lo)
		part.Offsets, part.Y, part.Arg = k.Offsets[lo:lo+n+1], k.Y[lo*k.F:(lo+n)*k.F], (*buf)[:n*k.F]
		part.SetRows(0, n)
	}
}

// BestGrads are the places that [BestGrad] adds gradients to. One that is nil is
// not wanted.
type BestGrads struct{ X, W *tensor.Dense }

// BestGrad adds the gradients of [MaxDense] and [MinDense] to those of into,
// from arg and the gradient dy of the result. W may be asked for where w is nil:
// it is then the gradient at weights of one.
//
//	dX[Cols[k],j] += w[k,h]·dy[i,j]
//	dW[k,h]       += x[Cols[k],j]·dy[i,j]    for k = arg[i,j] ≥ 0, i ascending
func BestGrad(into BestGrads, arg []int32, a *CSR, w, x, dy *tensor.Dense) {
	ok := a.multiplies(dy, x) && len(arg) == len(dy.Data) && (w == nil || headed(a, w, x)) &&
		(into.X == nil || fits(into.X, a.NumCols, x.RowLen())) &&
		(into.W == nil || headed(a, into.W, x) && (w == nil || w.RowLen() == into.W.RowLen()))
	if !ok {
		panic(mismatch("sparse.BestGrad", a, w, x, dy, into.X, into.W))
	}
	g := bestGrad{into: into, arg: arg, a: a, w: w, x: x, dy: dy, f: x.RowLen()}
	if into.X != nil && g.f > 0 {
		grain := bestColumns
		if a.NumRows*g.f <= partWork {
			grain = g.f
		}
		par.For(g.f, grain, g.columns)
	}
	if into.W != nil && g.f > 0 {
		par.For(a.NumRows, max(1, partWork/g.f), g.weights)
	}
}

// bestColumns is how many columns of the gradient of x a thread adds to at a
// time: a cache line's, so that threads do not write to the same one.
const bestColumns = 16

// bestGrad is what BestGrad works on.
type bestGrad struct {
	into     BestGrads
	arg      []int32
	a        *CSR
	w, x, dy *tensor.Dense
	f        int
}

// columns adds to columns lo to hi of the gradient of x.
func (g *bestGrad) columns(lo, hi int) {
	for i := range g.a.NumRows {
		dy := g.dy.Data[i*g.f : i*g.f+g.f]
		for j := lo; j < hi; j++ {
			k := g.arg[i*g.f+j]
			if k < 0 {
				break // the row has no nonzeros
			}
			v := dy[j]
			if g.w != nil {
				v *= g.w.Data[g.weight(g.w, k, j)]
			}
			g.into.X.Data[int(g.a.Cols[k])*g.f+j] += v
		}
	}
}

// weights adds to the gradient of the weights of the nonzeros of rows lo to hi.
func (g *bestGrad) weights(lo, hi int) {
	for i := lo; i < hi; i++ {
		for j := range g.f {
			k := g.arg[i*g.f+j]
			if k < 0 {
				break
			}
			g.into.W.Data[g.weight(g.into.W, k, j)] += g.x.Data[int(g.a.Cols[k])*g.f+j] * g.dy.Data[i*g.f+j]
		}
	}
}

// weight returns where w has the weight of nonzero k in column j.
func (g *bestGrad) weight(w *tensor.Dense, k int32, j int) int {
	heads := w.RowLen()
	return int(k)*heads + j*heads/g.f
}
