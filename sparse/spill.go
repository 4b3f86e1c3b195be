package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// spillRoom is the size, in elements, of a result that stays near each core, so
// that adding to its rows in any order is cheaper than to gather for each.
const spillRoom = 1 << 18

// spills reports whether the product with the transpose runs by a's rows: their
// nonzeros are read where they are, and no structure is turned. Threads share
// the columns. Where x is near, and the matrix no dropout's that is new each time,
// gathering its rows is cheaper.
func (p Product) spills(dst, x *tensor.Dense) bool {
	f := x.RowLen()
	return p.values() != nil && p.Weights == nil && !p.Mean && spillWidth(f) > 0 && len(dst.Data) <= spillRoom &&
		(p.A.left != nil || p.A.gather(x).Far)
}

// spillWidth is how many of f columns a chunk has, of which each reads all nonzeros: as many as
// let the threads end first, and at most half. Less than a line of the cache costs more than it
// saves where it can be more. It is 0 if f is too few, or some would be left.
func spillWidth(f int) int {
	threads, best, least := par.Threads(), 0, 0
	for width := spmm.SpillWidth; width >= 8; width /= 2 {
		if f%width > 0 || f < 2*width || width < spillLine && best > 0 {
			continue
		}
		rounds := (f/width + threads - 1) / threads
		if time := rounds * (width + spillFind); best == 0 || time < least {
			best, least = width, time
		}
	}
	return best
}

// spillFind is what it takes to find where a nonzero is added, in elements that are.
const spillFind = 12

// spillTask is such a product.
type spillTask struct {
	*remains
	dst, x   []tensor.Float
	f, width int
	set      bool

	all  remains // of a matrix without a dropout: itself
	ends [2]int
}

var spillTasks = sync.Pool{New: func() any { return new(spillTask) }}

// spill is such a product.
func (p Product) spill(dst, x *tensor.Dense) {
	t := spillTasks.Get().(*spillTask)
	*t = spillTask{remains: p.A.left, dst: dst.Data, x: x.Data, f: x.RowLen(), width: spillWidth(x.RowLen()), set: !p.Add}
	if t.remains == nil {
		t.ends[1] = p.A.NumRows
		t.all = remains{bounds: t.ends[:], cols: p.A.Cols, w: p.values(), starts: p.A.Offsets}
		t.remains = &t.all
	}
	par.Run(t.f/t.width, t)
	*t = spillTask{}
	spillTasks.Put(t)
}

// spillLine is how many elements of a row are lines of the cache of their own:
// threads that write fewer would take lines from each other.
const spillLine = 16

// Chunk adds up some columns of all rows.
func (t *spillTask) Chunk(i int) {
	left := i * t.width
	y := t.dst[left:]
	if t.width >= spillLine {
		if t.set {
			for at := 0; at < len(y); at += t.f {
				clear(y[at : at+t.width])
			}
		}
		t.add(y, t.f, left)
		return
	}
	rows, w := len(t.dst)/t.f, t.width
	own := scratch.Borrow(rows * w)
	defer scratch.Repay(own)
	if t.set {
		clear(*own)
	} else {
		for i := range rows {
			copy((*own)[i*w:(i+1)*w], y[i*t.f:])
		}
	}
	t.add(*own, w, left)
	for i := range rows {
		copy(y[i*t.f:], (*own)[i*w:(i+1)*w])
	}
}

// add adds the columns of x from left on to those at y.
func (t *spillTask) add(y []tensor.Float, stride, left int) {
	s := spmm.Spill{Y: y, YStride: stride, XStride: t.f, Width: t.width, Cols: t.cols, W: t.w, SkipZeros: t.remains == &t.all}
	for p := range len(t.bounds) - 1 {
		if lo, hi := t.bounds[p], t.bounds[p+1]; lo < hi {
			s.X, s.Offsets = t.x[lo*t.f+left:], t.starts[lo+p:hi+p+1]
			s.Add()
		}
	}
}
