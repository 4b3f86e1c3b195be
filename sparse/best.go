package sparse

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
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
	k.RowBest = spmm.RowBest{Gather: a.gather(x), Y: dst.Data, Arg: arg, Min: op == "sparse.MinDense"}
	k.Stream = passes(dst)
	if w != nil {
		k.W, k.Heads = w.Data, w.RowLen()
	}
	a.run(x.RowLen(), k)
	k.RowBest = spmm.RowBest{}
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
type bestKernel struct{ spmm.RowBest }

var bestKernels = sync.Pool{New: func() any { return new(bestKernel) }}

func (k *bestKernel) rows(lo, hi int) { k.SetRows(lo, hi) }

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
	if g.f == 0 {
		return
	}
	if into.X != nil {
		g.addX()
	}
	if into.W != nil {
		par.For(a.NumRows, max(1, partWork/g.f), g.addW)
	}
}

// bestGrad is what BestGrad works on.
type bestGrad struct {
	into     BestGrads
	arg      []int32
	a        *CSR
	w, x, dy *tensor.Dense
	f        int
}

// addX adds to the gradient of x: by x's rows, which are read out of the
// nonzeros that may have won, since writing to rows here and there is slower.
func (g *bestGrad) addX() {
	if g.a.NNZ()*g.f <= scatterWork && !g.a.turned() {
		g.scatterX()
		return
	}
	t, perm := g.a.structureT()
	k := wonKernels.Get().(*wonKernel)
	k.RowWon = spmm.RowWon{Gather: t.gather(g.dy), Y: g.into.X.Data, Arg: g.arg, Edges: perm}
	if g.w != nil {
		k.W, k.Heads = g.w.Data, g.w.RowLen()
	}
	t.run(g.f, k)
	*k = wonKernel{}
	wonKernels.Put(k)
}

// wonKernel is the gradient of some rows of x.
type wonKernel struct{ spmm.RowWon }

var wonKernels = sync.Pool{New: func() any { return new(wonKernel) }}

func (k *wonKernel) rows(lo, hi int) { k.AddRows(lo, hi) }

// scatterX is addX of a few elements, by a's rows.
func (g *bestGrad) scatterX() {
	for at, k := range g.arg {
		if k < 0 {
			continue
		}
		j, v := at%g.f, g.dy.Data[at]
		if g.w != nil {
			v *= g.w.Data[g.weight(g.w, k, j)]
		}
		g.into.X.Data[int(g.a.Cols[k])*g.f+j] += v
	}
}

// addW adds to the gradient of the weights of the nonzeros of rows lo to hi.
func (g *bestGrad) addW(lo, hi int) {
	for at := lo * g.f; at < hi*g.f; at++ {
		if k := g.arg[at]; k >= 0 {
			j := at % g.f
			g.into.W.Data[g.weight(g.into.W, k, j)] += g.x.Data[int(g.a.Cols[k])*g.f+j] * g.dy.Data[at]
		}
	}
}

// weight returns where w has the weight of nonzero k in column j.
func (g *bestGrad) weight(w *tensor.Dense, k int32, j int) int {
	heads := w.RowLen()
	return int(k)*heads + j*heads/g.f
}
