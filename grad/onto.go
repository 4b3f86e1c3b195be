package grad

import "github.com/edgewise-ml/edgewise/tensor"

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
	y := &Var{tape: op.tape, val: z.val}
	op.tape.stamp(y)
	if !op.Dry(0) {
		p.multiply(&y.val, &x.val)
		u.Forward(y.val.Data, y.val.Data, 1)
	}
	p.note(op, x, z)
	return op.Record(y, func(dy *tensor.Dense) {
		dz := z.Grad()
		u.Backward(dz.Data, dy.Data, y.val.Data, y.val.Data, 1)
		if dx := x.Grad(); dx != nil {
			p.pullX(dx, dz)
		}
	})
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
	y := op.Unset(z.Shape()...)
	if !op.Dry(0) {
		copy(y.val.Data, z.val.Data)
		multiply(&y.val, x, w)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		pullProduct(x, w, dy)
		if dz := z.Grad(); dz != nil {
			addTo(dz.Data, dy.Data)
		}
	})
}
