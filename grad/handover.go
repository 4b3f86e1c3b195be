package grad

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// handLeast is the number of elements from which the gradient of a product's
// result becomes that of its operand in place, rather than beside it: memory and
// the way there cost more than a copy of some rows at a time. Tests set it.
var handLeast = 1 << 20

// handsOver reports whether y's gradient may become that of x, by their shapes.
func (y *Var) handsOver(x *Var) bool {
	n := len(y.val.Data)
	return x.needs && x.csr == nil && y.base == nil && n >= handLeast && n == len(x.val.Data)
}

// handOver gives the memory of y's gradient to that of x, unless x has one or y's
// is to stay. What it holds is then still y's.
func (y *Var) handOver(x *Var) (handed bool) {
	root, _ := x.origin()
	if root.has || !y.has || y.hold || len(root.val.Data) != len(y.val.Data) {
		return false
	}
	root.grad.Set(y.Grad().Data, root.val.Shape()...)
	root.has, root.bare = true, 0
	y.has, y.grad.Data = false, nil
	return true
}

// mayHandOver notes for [Measure] that y's gradient is handed over to x where it
// may be.
func (op Op) mayHandOver(y, x *Var) {
	if op.trace != nil {
		op.trace.over = y.handsOver(x)
	}
}

// inPlace is the product of a gradient with the transpose of a square matrix, in
// the gradient's memory, in parts of rows.
type inPlace struct {
	g    tensor.Dense // a matrix
	back tensor.Packed
}

// A part is about partSize elements, of which blockSize are copied at a time: they
// stay in the second cache.
const (
	partSize  = 1 << 16
	blockSize = 1 << 14
)

// rows returns the rows of so many elements.
func (t *inPlace) rows(size int) int { return max(1, size/t.g.RowLen()) }

var inPlaces = sync.Pool{New: func() any { return new(inPlace) }}

// turnInPlace multiplies the rows of g by the transpose of w, to the bits of a
// product beside it.
func turnInPlace(g, w *tensor.Dense) {
	t := inPlaces.Get().(*inPlace)
	t.g = *matrix(g)
	t.back.Set(w, tensor.TransB)
	par.Run((t.g.Rows()-1)/t.rows(partSize)+1, t)
	t.g = tensor.Dense{}
	inPlaces.Put(t)
}

// inPlaceRows is what a part works with.
type inPlaceRows struct {
	room     []tensor.Float
	from, to tensor.Dense
}

var inPlaceRooms = sync.Pool{New: func() any { return new(inPlaceRows) }}

// Chunk does one part.
func (t *inPlace) Chunk(i int) {
	n, part, block := t.g.RowLen(), t.rows(partSize), t.rows(blockSize)
	end := min((i+1)*part, t.g.Rows())
	s := inPlaceRooms.Get().(*inPlaceRows)
	if len(s.room) < block*n {
		s.room = make([]tensor.Float, block*n)
	}
	spoil.Floats(s.room)
	for lo := i * part; lo < end; lo += block {
		hi := min(lo+block, end)
		rows := t.g.Data[lo*n : hi*n]
		s.from.Set(s.room[:copy(s.room, rows)], hi-lo, n)
		s.to.Set(rows, hi-lo, n)
		tensor.MatMulPackedThen(&s.to, &s.from, &t.back, 0, tensor.Epilogue{})
	}
	s.to = tensor.Dense{}
	inPlaceRooms.Put(s)
}
