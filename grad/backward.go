package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Backward returns the gradient of loss, which has one element, by every Param
// used and every value watched. A Param that the loss does not depend on has a
// zero gradient.
func (t *Tape) Backward(loss *Var) Grads { return t.BackwardEach(loss, nil) }

// BackwardEach is [Tape.Backward] that calls ready with each gradient as soon as nothing more is
// added to it, while those of what was used earlier have yet to be computed. A program that sends gradients
// to other processes can so begin with those of the last layer. A new value that a layer has for a frozen Param
// ([Tape.Update]) is given to ready too, after all gradients, and not to the Param. ready reads the gradient and begins
// no operation on t. If ready is nil, this is Backward.
func (t *Tape) BackwardEach(loss *Var, ready func(Grad)) Grads {
	t.backwardOf("Backward", loss)
	if len(loss.Value().Data) != 1 {
		panic(&tensor.ShapeError{Op: "grad.Backward", Shapes: [][]int{slices.Clone(loss.Shape())}, Why: "the loss must have one element"})
	}
	t.rounds.count("Backward", len(t.nodes))
	defer t.beginBackward("Backward")()
	t.zeroLeaves()
	loss.Grad().Data[0]++
	return t.pullAll(ready)
}

// BackwardFrom is [Tape.Backward] of ⟨dy, y⟩: it starts with dy, of y's shape, as
// the gradient of y. That is a product of dy with the Jacobian matrix of y. dy
// is only read, until BackwardFrom returns.
func (t *Tape) BackwardFrom(y *Var, dy *tensor.Dense) Grads {
	t.backwardOf("BackwardFrom", y)
	if !slices.Equal(y.Shape(), dy.Shape()) {
		panic(tensor.Mismatch("grad.BackwardFrom", y.Value(), dy))
	}
	t.rounds.count("BackwardFrom", len(t.nodes))
	defer t.beginBackward("BackwardFrom")()
	t.zeroLeaves()
	if root := t.lastAlone(y); root != nil && !t.dry {
		root.grad.Set(dy.Data, root.val.Shape()...) // nothing else adds to it
		root.has, root.hold, root.bare = true, true, 0
		defer func() { root.grad, root.has, root.hold = tensor.Dense{}, false, false }()
	} else if !t.dry {
		y.Grad().Add(dy)
	}
	return t.pullAll(nil)
}

// lastAlone returns the Var whose elements are y's, if y is the result of the last
// operation and none but that has read them.
func (t *Tape) lastAlone(y *Var) *Var {
	root, at := y.origin()
	n := len(t.nodes)
	if n == 0 || t.nodes[n-1].out != y || root.has || at != 0 || len(root.val.Data) != len(y.val.Data) {
		return nil
	}
	if root == y || n > 1 && t.nodes[n-2].out == root {
		return root
	}
	return nil
}

// backwardOf panics unless t can differentiate y.
func (t *Tape) backwardOf(op string, y *Var) {
	y.alive(op)
	if t != nil {
		t.settle()
	}
	if !t.Recording() {
		panic(&TapeError{Op: op, Why: "this tape does not record: it is one of NewEval, or ResetEval was called since its last Reset"})
	}
	if y.tape != nil && y.tape != t {
		panic(&TapeError{Op: op, Why: "the loss is of another tape"})
	}
	if !y.needs {
		panic(&TapeError{Op: op, Why: fmt.Sprintf("the loss depends on none of the %d trained Params and watched values", len(t.leaves))})
	}
}

// zeroLeaves makes the gradients of Params and watched values count as zero.
func (t *Tape) zeroLeaves() {
	t.bad = ""
	t.passes++
	for _, l := range t.leaves {
		t.forget(l.v)
	}
}

// pullAll runs all pullbacks and returns what they leave. ready, unless it is nil, hears of each gradient
// as soon as it is final: when the operations are done that came after its leaf, as no others can read that.
func (t *Tape) pullAll(ready func(Grad)) Grads {
	t.pulling = true
	defer func() { t.pulling = false }()
	gs, end := make(Grads, len(t.leaves)), len(t.nodes)
	for i := len(t.leaves) - 1; i >= 0 && ready != nil; i-- {
		if at := t.leaves[i].at; at < end {
			t.pullNodes(t.nodes[at:end])
			end = at
		}
		gs[i] = t.gradOf(i)
		ready(gs[i])
	}
	t.pullNodes(t.nodes[:end])
	if ready != nil {
		for _, u := range t.updates {
			ready(Grad{Param: u.param, Value: u.value.Value()})
		}
		t.dropUpdates()
	} else {
		t.applyUpdates()
	}
	for i := range gs {
		gs[i] = t.gradOf(i)
	}
	return gs
}

// gradOf is the gradient of a leaf.
func (t *Tape) gradOf(i int) Grad {
	l := &t.leaves[i]
	return Grad{Param: l.param, Value: l.v.Grad(), of: l.v, pass: t.passes}
}

// pullFrom runs the pullbacks of the operations from number first on, the last
// first.
func (t *Tape) pullFrom(first int) { t.pullNodes(t.nodes[first:]) }

// pullNodes runs the pullbacks of nodes, the last first.
func (t *Tape) pullNodes(nodes []node) {
	for i := len(nodes) - 1; i >= 0; i-- {
		n := &nodes[i] // stays where it is while a checkpoint's pullback records others behind it
		if n.asked() {
			t.heed()
			n.run(t)
		}
		for _, y := range n.outs {
			t.drop(y)
		}
		if n.out != nil {
			t.drop(n.out)
		}
	}
	if t.prof != nil {
		t.prof.enter(t.label, "")
	}
}

// asked reports whether a gradient has arrived.
func (n *node) asked() bool {
	if n.out != nil {
		return n.out.asked()
	}
	for _, y := range n.outs {
		if y.asked() {
			return true
		}
	}
	return len(n.outs) == 0
}

// run calls the node's pullback.
func (n *node) run(t *Tape) {
	if t.prof != nil {
		t.prof.enter(n.label, n.op)
	}
	switch {
	case n.by == nil:
		panic(shared("Backward"))
	case n.trace != nil && n.trace.skip:
		n.trace.pull(t, n)
	case n.out != nil:
		dy := n.out.pulled()
		if dy == nil { // a Reset has taken the result
			panic(shared("Backward"))
		}
		n.by.Pull(dy)
	default:
		n.by.Pull(nil)
	}
	if n.trace != nil && !t.dry && t.bad == "" {
		t.bad = n.badGrad()
	}
}

// drop hands back the gradient of v; that of a Param stays.
func (t *Tape) drop(v *Var) {
	if !v.hold {
		t.forget(v)
	}
}

// forget hands back the gradient of v.
func (t *Tape) forget(v *Var) {
	if v.has {
		if !v.lent {
			t.recycle(v.grad.Data)
		}
		v.has, v.lent = false, false
		v.grad.Data = nil
	}
}

func (t *Tape) applyUpdates() {
	for _, u := range t.updates {
		if t.dry {
			break
		}
		copy(u.param.Value.Data, u.value.Value().Data)
		u.param.Changed()
	}
	t.dropUpdates()
}

func (t *Tape) dropUpdates() {
	clear(t.updates)
	t.updates = t.updates[:0]
}

// outsideBackward panics if Backward runs, which is another goroutine's then; a
// checkpointed function that runs again is its own.
func (t *Tape) outsideBackward(op string) {
	if t.back.Load() && t.inside == outside {
		panic(shared(op + " while Backward runs"))
	}
}

// beginBackward says that Backward runs until the function that it returns is
// called.
func (t *Tape) beginBackward(op string) (end func()) {
	if !t.back.CompareAndSwap(false, true) {
		panic(shared(op + " while Backward runs"))
	}
	return func() { t.back.Store(false) }
}

// Grad returns the array into which a pullback adds x's gradient, or nil if it
// is not wanted. It is called by pullbacks only.
func (x *Var) Grad() *tensor.Dense {
	x.alive("Grad")
	if !x.needs {
		return nil
	}
	if x.base == nil {
		x.gradFrom(0)
		return &x.grad
	}
	root, at := x.origin()
	x.part(root.gradFrom(at), at)
	return &x.grad
}

// part makes x's gradient the part from at on of g, that of which x is a view.
func (x *Var) part(g []tensor.Float, at int) {
	n := len(x.val.Data)
	x.grad = x.val
	x.grad.Data = g[at : at+n : at+n]
}

// pulled returns x's gradient for its own pullback, which only reads it.
func (x *Var) pulled() *tensor.Dense {
	if x.lent {
		return &x.grad
	}
	return x.Grad()
}

// gradFrom returns the gradient, of which the elements from number at on have
// been set or are zero. Rounds of a loop ask for their parts from the last on, so
// what is before that need not be zeroed.
func (x *Var) gradFrom(at int) []tensor.Float {
	if x.lent {
		x.ownGrad()
	}
	if !x.has {
		buf, zero := x.tape.lend(len(x.val.Data))
		x.grad = x.val
		x.grad.Data = buf
		x.has, x.bare = true, len(buf)
		if zero {
			x.bare = 0
		}
	}
	if at < x.bare {
		if !x.tape.dry { // a dry run touches no memory
			wipe(x.grad.Data[at:x.bare])
		}
		x.bare = at
	}
	return x.grad.Data
}

// freshGrad is [Var.Grad] for a pullback that, if fresh is true, sets each element of the
// gradient at once, which holds anything: see tape.FreshGrad.
func (x *Var) freshGrad() (g *tensor.Dense, fresh bool) {
	x.alive("Grad")
	if !x.needs {
		return nil, false
	}
	root, at := x.origin()
	n := len(x.val.Data)
	if root.has && at+n > root.bare {
		return x.Grad(), false
	}
	all := root.gradFrom(at + n)
	root.bare = at
	if x != root {
		x.part(all, at)
	}
	return &x.grad, true
}

// asked reports whether x's gradient, or that of which it is a view, has been
// asked for.
func (x *Var) asked() bool {
	root, _ := x.origin()
	return root.has
}

// gradOf returns the elements of the gradient of what may be nil; nil where none is
// wanted.
func gradOf(v *Var) []tensor.Float {
	if v == nil || !v.needs {
		return nil
	}
	return v.Grad().Data
}

// giveGrad makes the gradient of y that of x, which has none. What the caller of
// BackwardFrom owns is lent: who adds to it adds to a copy.
func (y *Var) giveGrad(x *Var) {
	if y.handOver(x) {
		return
	}
	x.grad.Set(y.pulled().Data, x.val.Shape()...)
	x.has, x.bare, x.lent = true, 0, true
}

// ownGrad copies the gradient that was lent to x.
func (x *Var) ownGrad() {
	buf, _ := x.tape.lend(len(x.grad.Data))
	copy(buf, x.grad.Data)
	x.grad.Data, x.lent = buf, false
}

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
	if root.has || !y.has || y.hold || y.lent || len(root.val.Data) != len(y.val.Data) {
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
	if op.trace != nil && y.handsOver(x) {
		op.trace.over = x
		op.pullsLast(x)
	}
}

// turnInPlace multiplies the rows of g by the transpose of w, to the bits of a
// product beside it.
func turnInPlace(g, w *tensor.Dense) { dense.MatMulInPlace(matrix(g), w) }
