package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Grad is the gradient of one Param, or of one watched Var.
type Grad struct {
	Param *Param // nil: of Watched
	Value *tensor.Dense

	of   *Var
	pass uint32 // the Backward of its tape that made it
}

// Grads holds the gradients of a computation, in the order in which the Params
// were first used. They live until the tape's next Reset or Backward: then their
// memory is another's, and a method that is called on them panics with a
// [*TapeError].
type Grads []Grad

// MustLive panics with a [*TapeError] of the operation op if gs are from before
// their tape's last Reset or Backward. Every method of Grads and the optimisers
// of package train call it.
func (gs Grads) MustLive(op string) {
	for i := range gs {
		v := gs[i].of
		if v == nil || v.tape == nil {
			continue // a Grad that no tape has made
		}
		if v.gen != v.tape.gen {
			panic(&TapeError{Op: op, Why: "the gradients are from before their tape's last Reset; use them, or clone their values, before it"})
		}
		if gs[i].pass != v.tape.passes {
			panic(&TapeError{Op: op, Why: "the gradients are from before their tape's last Backward, which takes their memory: use them before it, add up the losses instead, or take a tape for each"})
		}
	}
}

// Of returns the gradient of a Var that was made by Use or Watch, or nil.
func (gs Grads) Of(v *Var) *tensor.Dense {
	gs.MustLive("Grads.Of")
	for _, g := range gs {
		if g.of == v && v != nil {
			return g.Value
		}
	}
	return nil
}

// Param returns the gradient of a Param, or nil.
func (gs Grads) Param(p *Param) *tensor.Dense {
	gs.MustLive("Grads.Param")
	for _, g := range gs {
		if g.Param == p && p != nil {
			return g.Value
		}
	}
	return nil
}

// SumGrads adds the gradients of several tapes, in the order of the arguments,
// into the first. All must have used the same Params, in the same order. Of two
// losses on one tape, add up the losses: a tape keeps the gradients of its last
// Backward only, and those of an earlier one panic here.
func SumGrads(gs ...Grads) Grads {
	if len(gs) == 0 {
		return nil
	}
	for _, g := range gs {
		g.MustLive("SumGrads")
	}
	for _, g := range gs[1:] {
		if !slices.EqualFunc(gs[0], g, func(a, b Grad) bool { return a.Param == b.Param }) {
			panic(&TapeError{Op: "SumGrads", Why: "the computations used different Params, or in another order"})
		}
		for i := range g {
			gs[0][i].Value.Add(g[i].Value)
		}
	}
	return gs[0]
}

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
