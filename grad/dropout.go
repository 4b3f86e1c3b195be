package grad

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
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

// NextDropout returns the mask of a dropout of fraction p that is built now, or
// nil where nothing is dropped. Each call draws the next op number, so that a
// mask belongs to a place in the program. A p that is no fraction is a
// [*TapeError].
func (t *Tape) NextDropout(p float64) *tensor.Mask {
	if !t.Recording() {
		return nil
	}
	if !(p >= 0 && p <= 1) {
		panic(&TapeError{Op: "Dropout", Why: fmt.Sprintf("a fraction of %v, want 0 to 1", p)})
	}
	t.op++
	if p == 0 {
		return nil
	}
	d := tensor.NewMask(t.seed, t.step, t.op, p)
	return &d
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
	return op.recordBy(y, note(op, dropNotes{x, d}))
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

// dropAlong returns the dropout of x if that is a bias and an ELU that wait: all
// three are one pass over rows, and one over their gradient. Else it returns nil.
func (t *Tape) dropAlong(x *Var, d *tensor.Mask) *Var {
	if x.tape != t || t == nil {
		return nil
	}
	l, biased, y := takeAs[*biasNotes](x)
	if y == nil {
		return nil
	}
	op := l.begin("Dropout", x)
	z := op.over(y.val.Data, x.val.Shape())
	n := note(op, dropBiasNotes{biasNotes{x: biased.x, b: biased.b, row: biased.row, drop: (*vec.Dropout)(d)}, l})
	n.Run(op, z)
	return op.recordBy(z, n)
}

// dropBiasNotes is the pullback of a dropout of a bias and an ELU, which it took along.
type dropBiasNotes struct {
	biasNotes
	from *late // of what waited
}

// took implements [taker].
func (n *dropBiasNotes) took() string { return "AddBias" }

// Pull adds to the gradients of x and b, or if an operation has read what waited, to that.
func (n *dropBiasNotes) Pull(dy *tensor.Dense) {
	if n.from.apart {
		(&dropNotes{n.from.out, (*tensor.Mask)(n.drop)}).Pull(dy)
		return
	}
	n.biasNotes.Pull(dy)
}
