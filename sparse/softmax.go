package sparse

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SoftmaxRows overwrites dst with the softmax of x over the nonzeros of each row
// of a, each column of x on its own. x and dst have a row for each nonzero and
// may be the same array:
//
//	dst[k,j] = exp(x[k,j] − top) / Σ_k exp(x[k,j] − top)    top = max_k x[k,j]
//
// Entries of +∞ share the weight evenly and leave the others none. Where all
// entries are −∞ the result is zero: nothing is attended to. A NaN makes the
// whole column of its row NaN.
func SoftmaxRows(dst *tensor.Dense, a *CSR, x *tensor.Dense) {
	if x.Rows() != a.NNZ() || !slices.Equal(dst.Shape(), x.Shape()) {
		panic(tensor.Mismatch("sparse.SoftmaxRows", dst, a, x))
	}
	l := softmaxLoops.Get().(*softmaxLoop)
	l.s = spmm.Segments{X: x.Data, Y: dst.Data, N: x.RowLen()}
	l.run(a, dst)
}

// softmaxLoop is a softmax or, where there is a dx, its gradient, in parts of
// rows.
type softmaxLoop struct {
	a    *CSR
	s    spmm.Segments // of all rows; in the gradient X is dy
	cuts []int
}

var softmaxLoops = sync.Pool{New: func() any { return new(softmaxLoop) }}

// softmaxWork is what a softmax costs, in elements of the simplest work.
const softmaxWork = 8

// run computes dst from what is in l.s.
func (l *softmaxLoop) run(a *CSR, dst *tensor.Dense) {
	if passes(dst) {
		l.s.StreamResult()
	}
	l.a = a
	parts := max(1, min(a.NNZ()*l.s.N*softmaxWork/partWork, partsMost))
	l.cuts = par.Split(l.a.Offsets, parts, l.cuts)
	par.Run(parts, l)
	*l = softmaxLoop{cuts: l.cuts}
	softmaxLoops.Put(l)
}

// Chunk does one part.
func (l *softmaxLoop) Chunk(i int) {
	buf := scratch.Borrow(spmm.SegmentWork(l.s.N))
	for r := l.cuts[i]; r < l.cuts[i+1]; {
		next := r + 1
		for next < l.cuts[i+1] && int(l.a.Offsets[next+1]-l.a.Offsets[r])*l.s.N <= softmaxMost {
			next++
		}
		s := l.s
		s.Offsets, s.Work = l.a.Offsets[r:next+1], *buf
		if s.D == nil {
			s.Softmax()
		} else {
			s.SoftmaxGrad()
		}
		r = next
	}
	scratch.Repay(buf)
}

// softmaxMost is the elements of rows that are done in one call.
const softmaxMost = 1 << 13

// SoftmaxRowsGrad adds the gradient of [SoftmaxRows] to dx, from its result y
// and the result's gradient dy:
//
//	dx[k,j] += y[k,j]·(dy[k,j] − Σ_k y[k,j]·dy[k,j])
func SoftmaxRowsGrad(dx *tensor.Dense, a *CSR, y, dy *tensor.Dense) {
	softmaxGrad("sparse.SoftmaxRowsGrad", spmm.Segments{}, dx, a, y, dy)
}

// SetSoftmaxRowsGrad is [SoftmaxRowsGrad] to zeros, whatever dx held.
func SetSoftmaxRowsGrad(dx *tensor.Dense, a *CSR, y, dy *tensor.Dense) {
	softmaxGrad("sparse.SetSoftmaxRowsGrad", spmm.Segments{Set: 1}, dx, a, y, dy)
}

func softmaxGrad(op string, s spmm.Segments, dx *tensor.Dense, a *CSR, y, dy *tensor.Dense) {
	if y.Rows() != a.NNZ() || !slices.Equal(dx.Shape(), y.Shape()) || !slices.Equal(dy.Shape(), y.Shape()) {
		panic(tensor.Mismatch(op, dx, a, y, dy))
	}
	s.X, s.Y, s.D, s.N = dy.Data, y.Data, dx.Data, y.RowLen()
	l := softmaxLoops.Get().(*softmaxLoop)
	l.s = s
	l.run(a, dx)
}
