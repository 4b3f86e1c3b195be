package grad

import (
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Dropout sets a fraction p of x's elements to zero and scales the others by
// 1/(1−p), while t records. An element is its row and its place in the row, so
// a sparse and a dense x lose the same ones.
func (t *Tape) Dropout(x *Var, p float64) *Var {
	d := t.NextDropout(p)
	if d == nil {
		return x
	}
	return t.dropBy(x, d)
}

// beginDropout is Begin of an operation that t drops in, also where the operands
// are constants: a mask changes each step, so the result is this step's.
func (t *Tape) beginDropout(name string, xs ...*Var) Op {
	op := Begin(name, xs...)
	if op.tape != nil && op.tape != t {
		panic(&TapeError{Op: name, Why: "the operand is of another tape; operations do not mix tapes"})
	}
	if op.tape == nil {
		t.settle()
	}
	op.tape = t
	return op
}

// dropBy is Dropout by a mask.
func (t *Tape) dropBy(x *Var, d *tensor.Mask) *Var {
	if y := t.dropAlong(x, d); y != nil {
		return y
	}
	op := t.beginDropout("Dropout", x)
	if x.csr != nil {
		return t.dropSparse(x, d)
	}
	y := op.freshLike(x)
	if !op.dry(0) {
		tensor.Dropout(&y.val, &x.val, d)
	}
	n := notes[dropNotes](op)
	*n = dropNotes{x, d}
	return op.recordBy(y, n)
}

// dropNotes is the pullback of a dropout of x.
type dropNotes struct {
	x    *Var
	mask *tensor.Mask
}

// Pull adds to x's gradient.
func (n *dropNotes) Pull(dy *tensor.Dense) {
	if dx, fresh := n.x.freshGrad(); fresh {
		tensor.Dropout(dx, dy, n.mask)
	} else {
		tensor.DropoutAdd(dx, dy, n.mask)
	}
}

// dropSparse drops stored elements: dropping a zero changes nothing.
func (t *Tape) dropSparse(x *Var, d *tensor.Mask) *Var {
	y := t.newVar()
	kept, starts := sparse.DropSizes(x.csr)
	y.csr = sparse.Drop(x.csr, d, sparse.DropRoom{
		Values: t.takeFresh(x.csr.NNZ()), Kept: t.takeFresh(kept), Cols: t.takeFreshInts(kept), Starts: t.takeFreshLongs(starts),
	})
	return y
}
