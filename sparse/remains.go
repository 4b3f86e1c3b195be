package sparse

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/tensor"
)

// remains are the nonzeros of a matrix that are not zero, such as a dropout
// leaves: in parts of rows, each part about where it stood.
type remains struct {
	bounds []int // of the rows
	cols   []int32
	w      []tensor.Float
	starts []int64 // of the rows in cols, with the end of each part after it
}

// leftTask is the product of remains with a dense array.
type leftTask struct {
	*remains
	sum spmm.RowSum
}

var leftTasks = sync.Pool{New: func() any { return new(leftTask) }}

// runLeft is [Product.run] of what a dropout left.
func (p Product) runLeft(dst, x *tensor.Dense) {
	t := leftTasks.Get().(*leftTask)
	t.remains = p.A.left
	t.sum = spmm.RowSum{Gather: p.A.gather(x), Y: dst.Data, Heads: 1, W: t.w, Set: !p.Add}
	t.sum.Cols = t.cols
	par.Run(len(t.bounds)-1, t)
	*t = leftTask{}
	leftTasks.Put(t)
}

// Chunk does one part of the rows.
func (t *leftTask) Chunk(i int) {
	lo, hi := t.bounds[i], t.bounds[i+1]
	sum := t.sum
	sum.Y, sum.Offsets = sum.Y[lo*sum.F:hi*sum.F], t.starts[lo+i:hi+i+1]
	sum.AddRows(0, hi-lo)
}
