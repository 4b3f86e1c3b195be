package sparse

import (
	"fmt"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// DropValues sets dst to the values of a under a dropout: each is dropped as
// the element of a dense matrix in its row and column would be, so that sparse
// and dense features drop alike, and what is kept is scaled. A nil d drops
// nothing. dst may be a's own values:
//
//	dst[k] = keep(i, Cols[k]) ? Values[k]·d.Scale : 0    for the nonzeros k of row i
func DropValues(dst []tensor.Float, a *CSR, d *tensor.Mask) {
	given("sparse.DropValues", a)
	if len(dst) != a.NNZ() {
		panic(&tensor.ShapeError{Op: "sparse.DropValues", Shapes: [][]int{{len(dst)}, a.Shape()}, Why: fmt.Sprintf("want %d elements, one a nonzero", a.NNZ())})
	}
	a.Settle()
	if d == nil || !(*vec.Dropout)(d).On() {
		for k := range dst {
			dst[k] = a.value(int64(k))
		}
		return
	}
	l := dropLoops.Get().(*dropLoop)
	l.bounds = par.Split(a.Offsets, dropParts(a), l.bounds)
	l.run(a, d, dst)
	*l = dropLoop{bounds: l.bounds}
	dropLoops.Put(l)
}

// DropRoom is the memory for what [Drop] makes of a matrix.
type DropRoom struct {
	Values []tensor.Float // a number a nonzero
	Kept   []tensor.Float // as many as DropSizes says
	Cols   []int32        // as many
	Starts []int64        // as many as DropSizes says
}

// DropSizes returns how many elements two parts of a [DropRoom] for a have.
func DropSizes(a *CSR) (kept, starts int) {
	given("sparse.DropSizes", a)
	parts := dropParts(a)
	return a.NNZ() + parts*spmm.KeepRoom, a.NumRows + parts
}

// Drop returns a under a dropout, as [DropValues] has it, in memory that is
// given: a matrix of a's structure that also knows what is left of it, so that
// products with dense arrays need not look for it. Its Values hold anything until
// [CSR.Settle], since these products do without; what needs them settles first.
// Neither the result nor a nor that memory may be written to as long as it is used.
func Drop(a *CSR, d *tensor.Mask, room DropRoom) *CSR {
	given("sparse.Drop", a)
	kept, starts := DropSizes(a)
	if len(room.Values) != a.NNZ() || len(room.Kept) != kept || len(room.Cols) != kept || len(room.Starts) != starts {
		panic(&tensor.ShapeError{Op: "sparse.Drop", Shapes: [][]int{{len(room.Values)}, {len(room.Kept)}, {len(room.Cols)}, {len(room.Starts)}, a.Shape()}, Why: "want the lengths that DropSizes returns"})
	}
	b := a.WithValues(room.Values)
	if d == nil || !(*vec.Dropout)(d).On() {
		DropValues(room.Values, a, d)
		return b
	}
	a.Settle()
	b.late = &late{from: a, drop: *d}
	b.left = &remains{bounds: par.Split(a.Offsets, dropParts(a), nil), cols: room.Cols, w: room.Kept, starts: room.Starts}
	l := dropLoops.Get().(*dropLoop)
	own := l.bounds
	l.bounds, l.left = b.left.bounds, b.left
	l.run(a, d, nil)
	*l = dropLoop{bounds: own}
	dropLoops.Put(l)
	return b
}

// late is a dropout whose values nobody has asked for.
type late struct {
	once sync.Once
	from *CSR
	drop tensor.Mask
}

// Settle sets the Values of a matrix that [Drop] returned, unless they are set
// already. All others have theirs, and nothing happens.
func (a *CSR) Settle() {
	if a.late != nil {
		a.late.once.Do(func() { DropValues(a.Values, a.late.from, &a.late.drop) })
	}
}

// dropWork is about how many nonzeros take some microseconds.
const dropWork = 1 << 13

// dropParts is in how many parts the nonzeros of a are dropped.
func dropParts(a *CSR) int { return max(1, min(a.NNZ()/dropWork, partsMost)) }

// dropLoop drops nonzeros in parts of rows.
type dropLoop struct {
	a        *CSR
	d        vec.Dropout
	from, to []tensor.Float
	bounds   []int
	left     *remains // nil: not wanted
}

var dropLoops = sync.Pool{New: func() any { return new(dropLoop) }}

// run drops a's values under d, in the parts that bounds has, and sets to to them
// or keeps what is left.
func (l *dropLoop) run(a *CSR, d *tensor.Mask, to []tensor.Float) {
	l.a, l.d, l.from, l.to = a, vec.Dropout(*d), a.Values, to
	var ones *[]tensor.Float
	if l.from == nil {
		ones = scratch.Borrow(a.NNZ())
		for k := range *ones {
			(*ones)[k] = 1
		}
		l.from = *ones
	}
	par.Run(len(l.bounds)-1, l)
	if ones != nil {
		scratch.Repay(ones)
	}
}

// Chunk does one part, in calls of not too many nonzeros.
func (l *dropLoop) Chunk(i int) {
	o := l.a.Offsets
	if l.left != nil {
		l.left.starts[l.bounds[i]+i] = o[l.bounds[i]] + int64(i*spmm.KeepRoom)
	}
	for lo, hi := l.bounds[i], l.bounds[i+1]; lo < hi; {
		next := lo + 1
		for next < hi && o[next+1]-o[lo] <= dropWork {
			next++
		}
		v := spmm.Values{Offsets: o[lo : next+1], Cols: l.a.Cols, From: l.from, To: l.to, Row: lo}
		if l.left != nil {
			v.ToCols, v.Kept, v.Starts = l.left.cols, l.left.w, l.left.starts[lo+i:next+i+1]
			v.Keep(&l.d)
		} else {
			v.Drop(&l.d)
		}
		lo = next
	}
}

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
