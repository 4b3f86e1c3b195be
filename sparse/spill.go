package sparse

import (
	"slices"
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

// spillTask is such a product. First the nonzeros that are not zero are picked
// together, in parts of rows, each part where it stood.
type spillTask struct {
	product
	dst, x []tensor.Float
	f      int
	cuts   []int // of the rows
	cols   []int32
	w      []tensor.Float
	starts []int64 // of the rows in cols, with the end of each part after it
}

// spillPicks is the loop that picks.
type spillPicks spillTask

var spillTasks = sync.Pool{New: func() any { return new(spillTask) }}

// spill adds the product of the transpose with x to dst.
func (p product) spill(dst, x *tensor.Dense) {
	t := spillTasks.Get().(*spillTask)
	t.product, t.dst, t.x, t.f = p, dst.Data, x.Data, x.RowLen()
	n := p.a.NNZ()
	parts := max(1, min(n/dropWork, partsMost))
	t.cuts = par.Split(p.a.Offsets, parts, t.cuts)
	t.cols, t.w = slices.Grow(t.cols[:0], n)[:n], slices.Grow(t.w[:0], n)[:n]
	t.starts = slices.Grow(t.starts[:0], p.a.NumRows+parts)[:p.a.NumRows+parts]
	par.Run(parts, (*spillPicks)(t))
	par.Run(t.f/simd.SpillWidth, t)
	t.product, t.dst, t.x = product{}, nil, nil
	spillTasks.Put(t)
}

// Chunk picks the nonzeros of one part of the rows.
func (t *spillPicks) Chunk(i int) {
	if t.set {
		n, parts := len(t.dst), len(t.cuts)-1
		clear(t.dst[n*i/parts : n*(i+1)/parts])
	}
	o := t.a.Offsets
	at := o[t.cuts[i]]
	for r := t.cuts[i]; r < t.cuts[i+1]; r++ {
		t.starts[r+i] = at
		at += int64(simd.Pick(t.cols[at:], t.w[at:], t.a.Cols[o[r]:o[r+1]], t.values[o[r]:o[r+1]]))
	}
	t.starts[t.cuts[i+1]+i] = at
}

// Chunk adds up some columns of all rows.
func (t *spillTask) Chunk(i int) {
	left := i * simd.SpillWidth
	for p := range len(t.cuts) - 1 {
		lo, hi := t.cuts[p], t.cuts[p+1]
		if lo < hi {
			simd.Spill(t.dst[left:], t.x[lo*t.f+left:], t.cols, t.w, t.starts[lo+p:hi+p+1], t.f)
		}
	}
}
