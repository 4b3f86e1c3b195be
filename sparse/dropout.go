package sparse

import (
	"fmt"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// DropValues sets dst to the values of a under a dropout: each is dropped as
// the element of a dense matrix in its row and column would be, so that sparse
// and dense features drop alike, and what is kept is scaled. A nil d drops
// nothing. dst may be a's own values:
//
//	dst[k] = keep(i, Cols[k]) ? Values[k]·d.Scale : 0    for the nonzeros k of row i
func DropValues(dst []tensor.Float, a *CSR, d *simd.Dropout) {
	if len(dst) != a.NNZ() {
		panic(&tensor.ShapeError{Op: "sparse.DropValues", Shapes: [][]int{{len(dst)}, a.Shape()}, Why: fmt.Sprintf("want %d elements, one a nonzero", a.NNZ())})
	}
	if d == nil || !d.On() {
		for k := range dst {
			dst[k] = a.value(int64(k))
		}
		return
	}
	if a.Values == nil {
		for k := range dst {
			dst[k] = 1
		}
	}
	l := dropLoops.Get().(*dropLoop)
	*l = dropLoop{a: a, d: *d, from: a.Values, to: dst, cuts: l.cuts}
	if l.from == nil {
		l.from = dst
	}
	parts := max(1, min(a.NNZ()/dropWork, partsMost))
	l.cuts = par.Split(a.Offsets, parts, l.cuts)
	par.Run(parts, l)
	*l = dropLoop{cuts: l.cuts}
	dropLoops.Put(l)
}

// dropWork is about how many nonzeros take some microseconds.
const dropWork = 1 << 13

// dropLoop drops nonzeros in parts of rows.
type dropLoop struct {
	a        *CSR
	d        simd.Dropout
	from, to []tensor.Float
	cuts     []int
}

var dropLoops = sync.Pool{New: func() any { return new(dropLoop) }}

// Chunk does one part, in calls of not too many nonzeros.
func (l *dropLoop) Chunk(i int) {
	o := l.a.Offsets
	for lo, hi := l.cuts[i], l.cuts[i+1]; lo < hi; {
		next := lo + 1
		for next < hi && o[next+1]-o[lo] <= dropWork {
			next++
		}
		v := simd.Values{Offsets: o[lo : next+1], Cols: l.a.Cols, From: l.from, To: l.to, Row: lo}
		v.Drop(&l.d)
		lo = next
	}
}
