package grad

import (
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// LinearOnto returns a(z + x·w) for matrices, of which z is read by nothing
// else: in a [Loop] the result takes z's memory, so that the products of all
// rounds lie where their summands did, and so do their gradients.
func (x *Var) LinearOnto(w, z *Var, a Activation) *Var {
	u, inPlace := a.fromResult()
	if !inPlace && a != Identity {
		return x.LinearOnto(w, z, Identity).Activate(a)
	}
	op := Begin("LinearOnto", x, w, z)
	if len(x.Value().Shape()) != 2 || len(w.Value().Shape()) != 2 || len(z.Value().Shape()) != 2 ||
		x.Dim(1) != w.Dim(0) || z.Dim(0) != x.Dim(0) || z.Dim(1) != w.Dim(1) {
		panic(tensor.Mismatch("grad.LinearOnto", x, w, z))
	}
	if !op.tape.shares(w) {
		return op.linearBeside(x, w, z).Activate(a)
	}
	p := op.tape.loop.weight(w)
	if !inPlace || op.needs && !z.needs || !z.free() {
		return p.times(op, x, z).Activate(a)
	}
	y := op.tape.newVar()
	y.val = z.val
	if !op.Dry(0) {
		p.multiply(&y.val, &x.val, false)
		u.Forward(y.val.Data, y.val.Data, 1)
	}
	p.note(op, x, z)
	n := Notes[roundNotes](op)
	*n = roundNotes{p, x, y, z, u}
	return op.RecordBy(y, n)
}

// free reports whether a loop may take x's memory: x's elements are not the
// caller's own, as those of a Param are, and its gradient stays until the loop's
// rounds are done.
func (x *Var) free() bool {
	root, _ := x.origin()
	return !root.hold && root.tape != nil && root.made != root.tape.loop
}

// linearBeside is z + x·w in memory of its own.
func (op Op) linearBeside(x, w, z *Var) *Var {
	y := op.freshLike(z)
	if !op.Dry(0) {
		copy(y.val.Data, z.val.Data)
		if x.csr != nil {
			sparse.Product{A: x.csr, Add: true}.Into(&y.val, &w.val)
		} else {
			tensor.MatMul(&y.val, &x.val, &w.val, 0)
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		pullProduct(x, w, dy)
		if dz := z.Grad(); dz != nil {
			addTo(dz.Data, dy.Data)
		}
	})
}
