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
	row  func(i int)
}

var rowLoops = sync.Pool{New: func() any { return new(rowLoop) }}

// Chunk runs one part.
func (l *rowLoop) Chunk(p int) {
	for i := l.cuts[p]; i < l.cuts[p+1]; i++ {
		l.row(i)
	}
}

// eachRow calls f with every row of a, on several threads where that pays; width
// is the work of a nonzero, in elements. f writes only what belongs to its row.
func (a *CSR) eachRow(width int, f func(i int)) {
	parts := min(a.NNZ()*width/partWork, partsMost)
	if parts < 2 {
		for i := range a.NumRows {
			f(i)
		}
		return
	}
	l := rowLoops.Get().(*rowLoop)
	l.cuts, l.row = par.Split(a.Offsets, parts, l.cuts), f
	par.Run(parts, l)
	l.row = nil
	rowLoops.Put(l)
}
