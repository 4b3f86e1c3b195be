package fused

import (
	"sync"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Where nothing but a mask belongs to an edge, the weight of an edge is made of
// exponentials of its nodes (node exponentials):
//
//	exp(LeakyReLU(el + er)) = max(e^el·e^er, e^(s·el)·e^(s·er))    for a slope s from 0 to 1
//
// so an edge costs two products and a maximum, and [attend.NodeExpAttention] walks it once. No logit
// is taken off, so the parts must be in range. An exponential of one that is not is NaN, and so is
// then the record of each destination that reads it: these destinations alone go in tiles.

// expWidth is the largest width of a head that [attend.NodeExpAttention] takes, eight heads
// at once or one.
const expWidth = 8

// hasNodeExps reports whether there are node exponentials: the heads fit, and there is nothing
// at the edges but the mask.
func (k *GAT) hasNodeExps() bool {
	heads, f := k.El.RowLen(), k.Ft.RowLen()
	return (heads%8 == 0 || heads == 1) && f <= heads*expWidth &&
		k.Ee == nil && k.Weight == nil && k.Slope >= 0 && k.Slope <= 1
}

// oneRow is how many places a node has in the tables of one head: the first
// is not used, so that a row is in one line of the cache.
const oneRow = 4

// expRow is how many numbers a node has in a table of its exponentials, and the place of
// the first: eight heads have all their e^x before all their e^(s·x).
func (b headBlocks) expRow() (stride, first int) {
	if b.heads == 1 {
		return oneRow, 1
	}
	return 2 * b.heads, 0
}

// sourceExps sets the exponentials of the sources.
func (t *gatForward) sourceExps() {
	stride, _ := t.expRow()
	size := t.k.In.NumCols * stride
	if t.rec != nil {
		size = max(size, t.k.derLen()) // so that Backward can take the same
	}
	t.exps = scratch.Borrow(size)
	t.mixed.Store(!setNodeExps(*t.exps, t.k.El, t.k.Slope))
}

// expLoop is a loop over nodes, in parts of some.
type expLoop struct {
	x        *tensor.Dense
	to       []tensor.Float
	slope    tensor.Float
	overflow atomic.Bool
}

var expLoops = sync.Pool{New: func() any { return new(expLoop) }}

// setNodeExps sets, for each row of x and each eight heads or one, the exponentials of
// that. It reports whether all are in range.
func setNodeExps(to []tensor.Float, x *tensor.Dense, slope tensor.Float) bool {
	l := expLoops.Get().(*expLoop)
	l.x, l.to, l.slope = x, to, slope
	l.overflow.Store(false)
	par.Run(partsOfRows(x.Rows(), x.RowLen() == 1), l)
	l.x, l.to = nil, nil
	ok := !l.overflow.Load()
	expLoops.Put(l)
	return ok
}

// Chunk does one part.
func (l *expLoop) Chunk(i int) {
	heads := l.x.RowLen()
	per := rowsOfPart(heads == 1)
	lo, hi := i*per, min((i+1)*per, l.x.Rows())
	stride, _ := headBlocks{heads: heads}.expRow()
	for lane := 0; lane < heads; lane += 8 {
		p := attend.NodeExps{X: l.x.Data[lo*heads+lane:], Y: l.to[lo*stride+2*lane:], XStride: heads, YStride: stride}
		if !nodeExps(&p, hi-lo, l.slope) {
			l.overflow.Store(true)
		}
	}
}

// nodeExps sets the exponentials of rows of eight heads or one, and reports whether
// they are in range.
func nodeExps(p *attend.NodeExps, rows int, slope tensor.Float) bool {
	if p.XStride == 1 {
		return p.Column(rows, slope)
	}
	return p.Rows(rows, slope)
}
