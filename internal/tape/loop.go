package tape

import (
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Loop is a computation that runs one body round by round, as a sweep over levels does. It is one operation on the tape,
// however many rounds it has, and a product with a matrix from outside adds to that matrix's gradient once, after the last
// round. The zero value is a loop on no tape.
type Loop struct {
	on interface {
		End()
		Seal()
	}
}

// BeginLoop begins a loop on the tape of xs, in which rows rows are computed; if none of xs is of a tape, one on no tape.
// Whatever the tape's Vars do from now on belongs to the loop, until End.
func BeginLoop(rows int, xs ...*grad.Var) Loop {
	if l := machinery.BeginLoop(rows, xs...); l != nil {
		return Loop{l}
	}
	return Loop{}
}

// OnTape reports whether the loop is on a tape.
func (l Loop) OnTape() bool { return l.on != nil }

// End ends the loop. It may be called twice.
func (l Loop) End() {
	if l.on != nil {
		l.on.End()
	}
}

// Seal says that no Var of the loop leaves it but through a [Frame]: one that is used after End is noticed, as a stale one
// is. Its header is used again, so after the tape's next Reset it would be another value.
func (l Loop) Seal() {
	if l.on != nil {
		l.on.Seal()
	}
}

// Read returns x as the rounds read it: those of a loop on no tape tell the products that they make of it from others.
func (l Loop) Read(x *grad.Var) *grad.Var {
	if l.on != nil {
		return x
	}
	return machinery.RoundOf(x)
}

// Frame is an array that is written a range of rows at a time and read in views: the states of a sweep. Every row is
// written once, before it is read.
type Frame interface {
	// Room returns rows lo to hi, without hi, which were not written yet, for an operation that makes all of them: its
	// result lies where Write would copy it. It is nil while the frame is of no tape.
	Room(lo, hi int) *grad.Var

	// Write sets rows lo, lo+1, … to the rows of y.
	Write(lo int, y *grad.Var)

	// View returns rows lo to hi, without hi.
	View(lo, hi int) *grad.Var

	// Sorted returns the rows from number skip on in another order: row i is number rank[i] of them, and order is the way
	// back, order[rank[i]] = i. The lists must not change until the tape's next Reset.
	Sorted(skip int, order, rank []int32) *grad.Var

	// SortedLater is Sorted of rows that are moved when they are first read: of the states of a sweep most programs read one.
	SortedLater(skip int, order, rank []int32) *grad.Var
}

// NewFrame returns a frame on the operation's tape.
func NewFrame(op grad.Op, shape ...int) Frame { return machinery.NewFrame(op, shape...) }

// Rounds are products with one matrix, of an operation that computes all rounds of a recurrence by itself. The matrix is
// packed once, as a [Loop] packs it. Any number of goroutines may multiply some rows each: no bit depends on how rows are
// cut.
type Rounds struct{ ahead, back *tensor.Packed }

// NewRounds packs w, a matrix, and where gradients are wanted its transpose, for an operation on tape.
func NewRounds(op grad.Op, w *grad.Var) Rounds {
	ahead, back := machinery.Packings(op, w)
	return Rounds{ahead, back}
}

// Multiply adds x·w of so many rows to y, or sets y to it.
func (r Rounds) Multiply(y, x []tensor.Float, rows int, set bool) {
	multiplyRows(y, x, rows, r.ahead, set)
}

// MultiplyBack adds the product of so many rows of dy with the transpose of w to dx, where gradients are wanted.
func (r Rounds) MultiplyBack(dx, dy []tensor.Float, rows int) {
	multiplyRows(dx, dy, rows, r.back, false)
}

// roundRooms are the headers of products, which a row of a recurrence must not allocate.
var roundRooms = sync.Pool{New: func() any { return new([2]tensor.Dense) }}

// multiplyRows adds x·w to y, or sets y to it. The arrays may go on behind these rows.
func multiplyRows(y, x []tensor.Float, rows int, w *tensor.Packed, set bool) {
	d, k, n := roundRooms.Get().(*[2]tensor.Dense), w.Shape()[0], w.Shape()[1]
	d[0].Set(y[:rows*n], rows, n)
	d[1].Set(x[:rows*k], rows, k)
	if set {
		tensor.MatMulPackedThen(&d[0], &d[1], w, 0, tensor.Epilogue{})
	} else {
		tensor.MatMulPacked(&d[0], &d[1], w, 0)
	}
	*d = [2]tensor.Dense{}
	roundRooms.Put(d)
}
