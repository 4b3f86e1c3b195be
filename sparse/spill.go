package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// spillRoom is the size, in elements, of a result that stays near each core, so
// that adding to its rows in any order is cheaper than to gather for each.
const spillRoom = 1 << 18

// spills reports whether the product with the transpose runs by a's rows: their
// nonzeros are read where they are, and no structure is turned. Threads share
// the columns.
func (p product) spills(dst *tensor.Dense, f int) bool {
	return p.values != nil && p.weights == nil && !p.mean && f >= 2*simd.SpillWidth && f%simd.SpillWidth == 0 && len(dst.Data) <= spillRoom
}

// spillTask is such a product, of the nonzeros that are not zero.
type spillTask struct {
	*remains
	dst, x []tensor.Float
	f      int
	set    bool
}

var spillTasks = sync.Pool{New: func() any { return new(spillTask) }}

// spill adds the product of the transpose with x to dst.
func (p product) spill(dst, x *tensor.Dense) {
	t := spillTasks.Get().(*spillTask)
	*t = spillTask{remains: p.a.left, dst: dst.Data, x: x.Data, f: x.RowLen(), set: p.set}
	var picks *pickTask
	if t.remains == nil {
		picks = p.pick()
		t.remains = &picks.remains
	}
	par.Run(t.f/simd.SpillWidth, t)
	if picks != nil {
		picks.free()
	}
	*t = spillTask{}
	spillTasks.Put(t)
}

// Chunk adds up some columns of all rows.
func (t *spillTask) Chunk(i int) {
	left := i * simd.SpillWidth
	if t.set {
		for at := left; at < len(t.dst); at += t.f {
			*(*[simd.SpillWidth]tensor.Float)(t.dst[at:]) = [simd.SpillWidth]tensor.Float{}
		}
	}
	for p := range len(t.cuts) - 1 {
		lo, hi := t.cuts[p], t.cuts[p+1]
		if lo < hi {
			simd.Spill(t.dst[left:], t.x[lo*t.f+left:], t.cols, t.w, t.starts[lo+p:hi+p+1], t.f)
		}
	}
}
