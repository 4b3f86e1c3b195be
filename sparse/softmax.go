package sparse

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Softmax is the softmax over the nonzeros of each row of a matrix, of numbers that
// stand there. [Softmax.Into] computes it, [Softmax.Grad] its gradient:
//
//	sparse.Softmax{A: a}.Into(alpha, logits)
type Softmax struct {
	A   *CSR
	Add bool // it, or its gradient, is added to what it goes into, which is overwritten otherwise
}

// Into sets dst to the softmax of x, each column of x on its own, or with Add adds it. x
// and dst have a row for each nonzero and may be the same array:
//
//	dst[k,j] += exp(x[k,j] − top) / Σ_k exp(x[k,j] − top)    top = max_k x[k,j]
//
// Entries of +∞ share the weight evenly and leave the others none. Where all
// entries are −∞ the result is zero: nothing is attended to. A NaN makes the
// whole column of its row NaN.
func (p Softmax) Into(dst, x *tensor.Dense) {
	given("sparse.Softmax", p.A, dst, x)
	if x.Rows() != p.A.NNZ() || !slices.Equal(dst.Shape(), x.Shape()) {
		panic(tensor.Mismatch("sparse.Softmax", dst, p.A, x))
	}
	if p.Add {
		room := scratch.Borrow(len(x.Data))
		defer scratch.Repay(room)
		y := tensor.Of(*room, x.Shape()...)
		Softmax{A: p.A}.Into(y, x)
		tensor.Add(dst, dst, y)
		return
	}
	l := softmaxLoops.Get().(*softmaxLoop)
	l.s = spmm.Segments{X: x.Data, Y: dst.Data, N: x.RowLen()}
	l.run(p.A, dst)
}

// Grad sets dx to the gradient of x, from the softmax y and its gradient dy, or with Add
// adds it:
//
//	dx[k,j] += y[k,j]·(dy[k,j] − Σ_k y[k,j]·dy[k,j])
func (p Softmax) Grad(dx, y, dy *tensor.Dense) {
	given("sparse.Softmax.Grad", p.A, dx, y, dy)
	if y.Rows() != p.A.NNZ() || !slices.Equal(dx.Shape(), y.Shape()) || !slices.Equal(dy.Shape(), y.Shape()) {
		panic(tensor.Mismatch("sparse.Softmax.Grad", dx, p.A, y, dy))
	}
	l := softmaxLoops.Get().(*softmaxLoop)
	l.s = spmm.Segments{X: dy.Data, Y: y.Data, D: dx.Data, N: y.RowLen()}
	if !p.Add {
		l.s.Set = 1
	}
	l.run(p.A, dx)
}

// softmaxLoop is a softmax or, where there is a dx, its gradient, in parts of
// rows.
type softmaxLoop struct {
	a      *CSR
	s      spmm.Segments // of all rows; in the gradient X is dy
	bounds []int
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
	parts := partsOf(a.NNZ() * l.s.N * softmaxWork)
	l.bounds = par.Split(l.a.Offsets, parts, l.bounds)
	par.Run(parts, l)
	*l = softmaxLoop{bounds: l.bounds}
	softmaxLoops.Put(l)
}

// Chunk does one part.
func (l *softmaxLoop) Chunk(i int) {
	buf := scratch.Borrow(spmm.SegmentWork(l.s.N))
	for r := l.bounds[i]; r < l.bounds[i+1]; {
		next := r + 1
		for next < l.bounds[i+1] && int(l.a.Offsets[next+1]-l.a.Offsets[r])*l.s.N <= softmaxMost {
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
