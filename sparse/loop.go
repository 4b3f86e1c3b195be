package sparse

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A loop over rows is cut where a part has about this much work, in elements,
// but into no more than partsMost parts, or four a thread: skewed graphs need some to even out.
const (
	partWork  = 1 << 16
	partsMost = 64
)

// leastWidth is the work of a nonzero at least, however few elements it points at: it takes
// its time to find them.
const leastWidth = 16

// rowKernel is the body of a loop over rows. It writes only what belongs to the
// rows lo to hi, without hi.
type rowKernel interface{ rows(lo, hi int) }

// rowLoop is a loop over the rows of a matrix, in parts of about equal work.
type rowLoop struct {
	bounds []int
	kernel rowKernel
}

var rowLoops = sync.Pool{New: func() any { return new(rowLoop) }}

// Chunk runs one part.
func (l *rowLoop) Chunk(p int) { l.kernel.rows(l.bounds[p], l.bounds[p+1]) }

// partsOf returns into how many parts so much work is cut: a multiple of the threads if there are
// more than those. No bit may depend on it.
func partsOf(work int) int {
	threads := par.Threads()
	parts := max(1, min(work/partWork, max(partsMost, 4*threads)))
	if parts > threads {
		parts -= parts % threads
	}
	return parts
}

// run runs a kernel on all rows of a, on several threads where that pays; width
// is the work of a nonzero, in elements, and of a row, which may have none.
func (a *CSR) run(width int, k rowKernel) {
	parts := partsOf((a.NNZ() + a.NumRows) * max(width, leastWidth))
	if parts < 2 {
		k.rows(0, a.NumRows)
		return
	}
	l := rowLoops.Get().(*rowLoop)
	l.bounds, l.kernel = par.Split(a.Offsets, parts, l.bounds), k
	par.Run(parts, l)
	l.kernel = nil
	rowLoops.Put(l)
}

// add is y += x.
func add(y, x []tensor.Float) { vec.Add.Forward(y, y, x, 1, 1) }

// axpy is y += a·x.
func axpy(y []tensor.Float, a tensor.Float, x []tensor.Float) { vec.Axpy(y, a, x) }

// axpyHeads is y[h,:] += w[h]·x[h,:], for len(w) heads.
func axpyHeads(y, w, x []tensor.Float) {
	d := len(x) / max(1, len(w))
	for h, s := range w {
		axpy(y[h*d:h*d+d], s, x[h*d:h*d+d])
	}
}

// given panics if the matrix or an array that op is called with is nil.
func given(op string, a *CSR, xs ...*tensor.Dense) {
	if a == nil || slices.Contains(xs, nil) {
		panic(&tensor.ShapeError{Op: op, Why: "the matrix or an array is nil"})
	}
}

// fits reports whether x has the given rows and row length.
func fits(x *tensor.Dense, rows, rowLen int) bool {
	return x.Rows() == rows && x.RowLen() == rowLen
}
