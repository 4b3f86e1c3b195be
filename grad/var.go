package grad

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Var is a value in one computation: a dense array or, where an operation says
// so, a sparse matrix. Its methods make new Vars and record themselves on the
// tape of their operands.
type Var struct {
	*body
	tape *Tape  // nil: of no tape, a constant
	gen  uint32 // of the tape, when the Var was made
	run  uint32 // of the checkpointed function in which it was made, or 0
}

// body is what a Var holds. That of a Var of a tape is another Var's after the
// tape's next Reset; the Var itself is not, so that it can tell that it is stale.
type body struct {
	val tensor.Dense
	csr *sparse.CSR // instead of val

	needs bool // its gradient is wanted
	hold  bool // its gradient stays until Reset: a Param, or watched
	has   bool // grad has been asked for
	bare  int  // the first elements of grad, which hold anything until they are asked for
	lent  bool // grad lies in memory of the caller's, which is only read
	grad  tensor.Dense

	packs *packedParam // of a Param on a tape with Weights

	base *Var  // the Var of which this is a view
	at   int   // and its first element there
	made *loop // the loop in which an operation made it

	blank int // the first elements, of a frame: all are 0, and nobody wants their gradients

	late atomic.Pointer[late] // nil: the value is there
	used bool                 // an operation has read it
	step bool                 // it was computed in a step of a loop that is on no tape, or not yet
	sum  summand
}

// lone is a Var of no tape with its body.
type lone struct {
	Var
	body body
}

// Const returns a Var of no tape: it is good on every tape, after every Reset,
// on any goroutine, and has no gradient. x is a [*tensor.Dense] or a
// [*sparse.CSR], and is not copied.
func Const(x tensor.Array) *Var {
	v := (*Tape)(nil).newVar()
	v.set(x)
	return v
}

func (x *Var) set(a tensor.Array) {
	switch a := a.(type) {
	case *tensor.Dense:
		x.val = *a
	case *sparse.CSR:
		x.csr = a
	default:
		panic(&TapeError{Op: "Const", Why: fmt.Sprintf("a %T is neither a dense array nor a CSR matrix", a)})
	}
}

// Value returns x's array. It is valid until the tape's next Reset.
func (x *Var) Value() *tensor.Dense {
	x.alive("Value")
	x.ready("Value")
	if x.csr != nil {
		panic(&tensor.ShapeError{Op: "grad.Value", Shapes: [][]int{x.csr.Shape()}, Why: "the value is sparse; only MatMul and Dropout take it"})
	}
	return &x.val
}

// Sparse returns x's matrix if it is sparse, else nil.
func (x *Var) Sparse() *sparse.CSR {
	x.alive("Sparse")
	if x.csr != nil {
		x.csr.Settle()
	}
	return x.csr
}

// IsSparse reports whether x's array is sparse. It costs nothing, where
// [Var.Sparse] may have to work out what a dropout left.
func (x *Var) IsSparse() bool {
	x.alive("IsSparse")
	return x.csr != nil
}

// Shape returns the length of each axis. The caller must not modify it. It is
// valid until the tape's next Reset.
func (x *Var) Shape() []int {
	x.alive("Shape")
	if x.csr != nil {
		return x.csr.Shape()
	}
	return x.val.Shape()
}

// Dim returns the length of axis i; a negative i counts from the last axis.
func (x *Var) Dim(i int) int {
	if i < 0 {
		i += len(x.Shape())
	}
	return x.Shape()[i]
}

// Needs reports whether x's gradient is wanted: a pullback need not compute
// it otherwise.
func (x *Var) Needs() bool {
	x.alive("Needs")
	return x.needs
}

// Keep returns a copy of x as a constant, which outlives the tape's Reset and
// stops the gradient: the carried state of truncated back-propagation.
func (x *Var) Keep() *Var {
	v := (*Tape)(nil).newVar()
	v.val = *x.Value()
	v.val.Data = slices.Clone(x.val.Data)
	return v
}

// Detach returns x's value without its gradient, in the same computation.
func (x *Var) Detach() *Var {
	x.alive("Detach")
	x.ready("Detach")
	y := x.tape.newVar()
	y.val, y.csr = x.val, x.csr
	return y
}

// origin returns the Var in which x's elements and gradient lie, and where.
func (x *Var) origin() (root *Var, at int) {
	for x.base != nil {
		x, at = x.base, at+x.at
	}
	return x, at
}

// dataOf returns the elements of what may be nil.
func dataOf(v *Var) []tensor.Float {
	if v == nil {
		return nil
	}
	return v.val.Data
}

// distinct reports whether no two of xs share elements: then no two of their
// gradients lie over each other.
func distinct(xs ...*Var) bool {
	for i, x := range xs {
		root, at := x.origin()
		for _, y := range xs[:i] {
			other, from := y.origin()
			if other == root && at < from+len(y.val.Data) && from < at+len(x.val.Data) {
				return false
			}
		}
	}
	return true
}

// isBlank reports whether all elements of x are 0 and their gradients not wanted, as those of
// the states before the roots are: what a product adds there, or has of them, is nothing.
func (x *Var) isBlank() bool {
	root, at := x.origin()
	return at+len(x.val.Data) <= root.blank
}

// unread reports whether x is a result that nothing has read, with memory of its own.
func (x *Var) unread() bool {
	return x.tape != nil && x.base == nil && !x.hold && !x.used && x.late.Load() == nil
}

// free reports whether a loop may take x's memory: x's elements are not the
// caller's own, as those of a Param are, and its gradient stays until the loop's
// rounds are done.
func (x *Var) free() bool {
	root, _ := x.origin()
	return x.sum == inItsPlace && !root.hold && root.tape != nil && root.made != root.tape.loop
}

func (x *Var) alive(op string) {
	if t := x.tape; t != nil && (x.gen != t.gen || x.run != 0 || x.made != nil && x.made != t.loop) {
		x.mustLive(op)
	}
}

// mustLive panics if x is stale.
func (x *Var) mustLive(op string) {
	if x.gen == x.tape.gen && x.run != 0 && !slices.Contains(x.tape.runs, x.run) {
		panic(&TapeError{Op: op, Why: "a Var from inside a checkpointed function, whose memory is gone; return what is needed outside"})
	}
	if x.gen != x.tape.gen {
		panic(&TapeError{Op: op, Why: "a Var from before its tape's last Reset; copy what must live longer with Keep, or make it with Const; if the Reset is another goroutine's, give each a tape of its own"})
	}
	if x.made != nil && x.made.sealed && !x.tape.pulling && !x.made.around(x.tape.loop) {
		panic(&TapeError{Op: op, Why: "a Var from inside a Sweep's step, which is used again in the next; return what is needed outside as part of the state"})
	}
}

// String returns the shape, for messages.
func (x *Var) String() string { return fmt.Sprintf("Var%v", x.Shape()) }

// summand says what a sum with a product may do with a Var.
type summand uint8

const (
	noSummand  summand = iota
	besideIt           // the product is added to a copy of it
	inItsPlace         // the product is added to it, as nothing else reads it
	sumInPlace         // it is such a sum, on which an activation may lie in place
)

// headers is how many Vars are made at a time.
const headers = 32

// newVar returns a zero Var of t that is made now.
func (t *Tape) newVar() *Var {
	if t == nil {
		v := new(lone)
		v.Var.body = &v.body
		return &v.Var
	}
	now := t.ticks
	v := t.header()
	v.body, v.tape = t.bodies.take(), t
	*v.body = body{}
	t.stamp(v)
	t.tick(now)
	return v
}

// header returns a Var without a body. Those of a loop, which must not leave it,
// are used again after the tape's next Reset; until then they tell that they are
// stale.
func (t *Tape) header() *Var {
	if t.loop != nil {
		return t.vars.take()
	}
	heads := t.heads
	if len(heads) == 0 {
		heads = make([]Var, headers)
	}
	t.heads = heads[1:]
	return &heads[0]
}

// stamp says where and when v was made.
func (t *Tape) stamp(v *Var) {
	v.gen, v.made, v.run = t.gen, t.loop, 0
	if n := len(t.runs); n > 0 {
		v.run = t.runs[n-1]
	}
}

// resetVars takes back what Vars hold, and the Vars of loops. What they hold is
// theirs until it is another's: a goroutine that is in the middle of an operation
// finds out at its end.
func (t *Tape) resetVars() {
	t.bodies.used = 0
	t.vars.used = 0
}
