package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
)

// A loop over rows is cut where a part has about this much work, in elements,
// but into no more than partsMost parts: skewed graphs need some to even out.
const (
	partWork  = 1 << 15
	partsMost = 64
)

// rowLoop is a loop over the rows of a matrix, in parts of about equal work.
type rowLoop struct {
	cuts []int
	rows func(lo, hi int)
}

var rowLoops = sync.Pool{New: func() any { return new(rowLoop) }}

// Chunk runs one part.
func (l *rowLoop) Chunk(p int) { l.rows(l.cuts[p], l.cuts[p+1]) }

// eachRange calls f with ranges of rows that together are all of a's, on several
// threads where that pays; width is the work of a nonzero, in elements. f writes
// only what belongs to its rows.
func (a *CSR) eachRange(width int, f func(lo, hi int)) {
	parts := min(a.NNZ()*width/partWork, partsMost)
	if parts < 2 {
		f(0, a.NumRows)
		return
	}
	l := rowLoops.Get().(*rowLoop)
	l.cuts, l.rows = par.Split(a.Offsets, parts, l.cuts), f
	par.Run(parts, l)
	l.rows = nil
	rowLoops.Put(l)
}

// eachRow calls f with every row of a, as eachRange does.
func (a *CSR) eachRow(width int, f func(i int)) {
	a.eachRange(width, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}
