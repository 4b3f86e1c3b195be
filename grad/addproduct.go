package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// In a [loop] a product with a matrix from outside waits for a summand that was
// given up, see [Var.TakeRows]: the sum is made where the summand lies, so that the
// products of all rounds lie where the summands did, and so do their gradients.

// TakeRows returns rows lo to hi, without hi, as a view, and gives them up: a
// product that is added to them in a loop of rounds may take their place, and an activation
// after it, too. Of an x that was made in the same round, such a sum has the bits
// that it has in x's place, in memory of its own. The rounds of one loop take rows from the first on. Reading x
// afterwards, or such a sum after its activation, panics with a [*TapeError]. What
// operations have read of x before, and what the tape does not own, stays as it is.
func (x *Var) TakeRows(lo, hi int) *Var {
	t := x.tape
	if t == nil {
		y := x.RowRange(lo, hi)
		y.sum = besideIt
		return y
	}
	x.alive("TakeRows")
	l := x.late.Load()
	if l != nil && l.state == given && l.loop != nil && l.loop == t.loop && lo >= l.to && hi >= lo && hi <= x.val.Dim(0) {
		l.to = hi
		var room extents
		shape := append(room[:0], x.val.Shape()...)
		shape[0] = hi - lo
		y := Op{tape: t}.view(x, lo*x.val.RowLen(), shape...)
		y.sum = inItsPlace
		return y
	}
	whole := x.unread() && t.loop != nil && x.made != t.loop
	y := x.RowRange(lo, hi)
	if y.sum = besideIt; whole {
		y.sum = inItsPlace
		l := notes[late](Op{tape: t})
		l.state, l.loop, l.to = given, t.loop, hi
		x.late.Store(l)
	}
	return y
}

// beginOver is [Begin] of an operation on x and xs that overwrites x's elements: z are these, if nothing
// has read x, or else a copy. Reading x afterwards panics with a [*TapeError] then, as after [Var.TakeRows].
func beginOver(name string, x *Var, xs ...*Var) (op Op, z []tensor.Float) {
	own := x != nil && x.unread() // before Begin reads it
	op = Begin(name, append(xs, x)...)
	if z = x.Value().Data; own {
		x.late.Store(givenUp)
		return op, z
	}
	if z = op.freshFloats(len(z)); !op.measuring() {
		copy(z, x.val.Data)
	}
	return op, z
}

// AddProduct returns x + h·w, to the bits that h.MatMul(w).Add(l.Take(x)) has in a Sweep: each
// element begins at that of x and adds the products one after another. In a loop of rounds it is
// that sum, and w's gradient comes once, after the last round; elsewhere an operation of
// its own. So a step that is called by itself gives what it gives in a sweep.
func (x *Var) AddProduct(h, w *Var) *Var {
	if x.sum == besideIt || x.sum == inItsPlace {
		return h.MatMul(w).Add(x)
	}
	var t *Tape
	for _, v := range [...]*Var{x, h, w} {
		if t == nil {
			t = v.tape
		}
	}
	if t.joins(h, w) {
		z := x.RowRange(0, x.Dim(0))
		z.sum = besideIt
		return h.MatMul(w).Add(z)
	}
	op := Begin("AddProduct", x, h, w)
	if h.csr != nil || h.Value().Axes() != 2 || w.Value().Axes() != 2 || h.Dim(1) != w.Dim(0) || h.Dim(0) != x.Dim(0) || w.Dim(1) != x.Dim(-1) {
		panic(tensor.Mismatch("grad.AddProduct", x, h, w))
	}
	return op.productBeside(h, w, x)
}

// ontoNotes is a product x·w in a loop, and its pullback.
type ontoNotes struct {
	p     *weight // nil: the rounds share nothing
	x, w  *Var
	out   *Var // the product as others have it
	loop  *loop
	taken bool // the sum is among the factors of w, the product alone is not
}

// joins reports whether products with w may take a summand along.
func (t *Tape) joins(x, w *Var) bool {
	inside := x.step && (t == nil || t.loop == nil) || t != nil && t.loop != nil && w.made != t.loop && w.base == nil && !x.leaf()
	return inside && x.csr == nil && x.val.Axes() == 2 && waits
}

// recordProduct records x·w, which waits for a summand.
func (op Op) recordProduct(x, w *Var) *Var {
	t := op.tape
	n := note(op, ontoNotes{x: x, w: w})
	if t != nil {
		n.loop = t.loop
	}
	if t.shares(w) {
		n.p = t.loop.weight(w)
		op.pulls(x)
	}
	y := op.newVar()
	y.val.SetShape(x.val.Dim(0), w.val.Dim(1))
	n.out = y
	op.dry(0)
	op.wait(y, nil, n)
	return op.recordBy(y, n)
}

// place implements [placer].
func (n *ontoNotes) place(op Op) *Var {
	shape := [...]int{n.x.val.Dim(0), n.w.val.Dim(1)}
	if t := op.tape; n.p != nil && t != nil && t.loop == n.loop && !n.taken {
		return n.p.place(op, shape[:])
	}
	return op.Fresh(shape[:]...)
}

// Run implements [deferred].
func (n *ontoNotes) Run(op Op, y *Var) {
	if n.p == nil {
		if !op.measuring() {
			multiply(&y.val, n.x, n.w)
		}
		return
	}
	if !op.measuring() {
		n.p.multiply(&y.val, n.x, true)
	}
	if !n.taken {
		n.p.note(op, n.x, n.out)
	}
}

// Pull adds to the gradient of x; that of w comes after all rounds.
func (n *ontoNotes) Pull(dy *tensor.Dense) {
	if n.p == nil || n.taken { // and it was read after all
		pullProduct(n.x, n.w, dy)
		return
	}
	n.p.pullX(n.x, dy)
}

// addAlong returns x + z if one of them is a product that waits and the other was
// given up as its summand, else nil.
func (x *Var) addAlong(z *Var) *Var {
	if x.sum == besideIt || x.sum == inItsPlace {
		x, z = z, x
	}
	l := x.along()
	if x.tape == nil {
		l = x.late.Load()
	}
	if l == nil || l.out != x || z.tape != nil && z.gen != z.tape.gen || z.sum != besideIt && z.sum != inItsPlace || !slices.Equal(x.val.Shape(), z.val.Shape()) {
		return nil
	}
	n, ok := l.of.(*ontoNotes)
	if !ok {
		return nil
	}
	l.mu.Lock()
	if ok = l.state == waiting; ok {
		n.taken = true
		l.take()
	}
	l.mu.Unlock()
	if !ok {
		return nil
	}
	op := begin("Add", l, []*Var{n.x, n.w, z})
	if n.p == nil {
		return op.productBeside(n.x, n.w, z)
	}
	return n.p.times(op, n.x, z)
}

// actAlong returns f of x in x's memory if x is the sum that the last operation
// made in its summand's, else nil.
func (x *Var) actAlong(f vec.Unary, c tensor.Float) *Var {
	t := x.tape
	if x.sum != sumInPlace || t == nil || t.sum != x || x.gen != t.gen {
		return nil
	}
	switch {
	case f == vec.ELU && c == 1:
	case f == vec.ReLU, f == vec.Sigmoid, f == vec.Tanh:
	default:
		return nil
	}
	op := Begin(f.String(), x)
	y := op.over(x.val.Data, x.val.Shape())
	if !op.dry(0) {
		f.Forward(y.val.Data, y.val.Data, 1)
	}
	x.late.Store(givenUp)
	return op.recordBy(y, note(op, actNotes{x, y, f}))
}

// actNotes is the pullback of y = f(x) in x's memory.
type actNotes struct {
	x, y *Var
	f    vec.Unary
}

// Pull adds to x's gradient.
func (n *actNotes) Pull(dy *tensor.Dense) {
	n.f.Backward(n.x.Grad().Data, dy.Data, n.y.val.Data, n.y.val.Data, 1)
}

// productBeside is z + x·w in memory of its own.
func (op Op) productBeside(x, w, z *Var) *Var {
	y := op.freshLike(z)
	if !op.dry(0) {
		copy(y.val.Data, z.val.Data)
		if p := w.packs.packed(&w.val, 0); p != nil {
			tensor.MatMulPacked(&y.val, &x.val, p, 0)
		} else {
			tensor.MatMul(&y.val, &x.val, &w.val, 0)
		}
	}
	op.pullsLast(z)
	return op.recordBy(y, note(op, besideNotes{x, w, z}))
}

// besideNotes is the pullback of z + x·w.
type besideNotes struct{ x, w, z *Var }

// Pull adds to the gradients of z, x and w.
func (n *besideNotes) Pull(dy *tensor.Dense) {
	pullProduct(n.x, n.w, dy)
	if dz := n.z.Grad(); dz != nil {
		addTo(dz.Data, dy.Data)
	}
}
