package sparse

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/spoil"
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

// pickTask makes the remains of a matrix whose zeros nobody has left out.
type pickTask struct {
	remains
	a      *CSR
	values []tensor.Float
}

var pickTasks = sync.Pool{New: func() any { return new(pickTask) }}

// pick returns the remains of p's matrix, until they are given back by free.
func (p Product) pick() *pickTask {
	t := pickTasks.Get().(*pickTask)
	n, parts := p.A.NNZ(), dropParts(p.A)
	t.a, t.values = p.A, p.values()
	t.bounds = par.Split(p.A.Offsets, parts, t.bounds)
	t.cols, t.w = slices.Grow(t.cols[:0], n)[:n], slices.Grow(t.w[:0], n)[:n]
	t.starts = slices.Grow(t.starts[:0], p.A.NumRows+parts)[:p.A.NumRows+parts]
	spoil.Ints(t.cols)
	spoil.Floats(t.w)
	spoil.Ints(t.starts)
	par.Run(parts, t)
	return t
}

func (t *pickTask) free() {
	t.a, t.values = nil, nil
	pickTasks.Put(t)
}

// Chunk picks the nonzeros of one part of the rows.
func (t *pickTask) Chunk(i int) {
	o := t.a.Offsets
	at := o[t.bounds[i]]
	for r := t.bounds[i]; r < t.bounds[i+1]; r++ {
		t.starts[r+i] = at
		at += int64(spmm.Pick(t.cols[at:], t.w[at:], t.a.Cols[o[r]:o[r+1]], t.values[o[r]:o[r+1]]))
	}
	t.starts[t.bounds[i+1]+i] = at
}
