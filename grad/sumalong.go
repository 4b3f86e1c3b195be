package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// summing is a [deferred] that can add an array on its way. Summed returns the operation
// with r, which has as many elements, added to its result, or nil if that is no gain. Run
// will be called of what is returned, which may take over what this one has prepared for a
// Run that has not been called. Its Pull must not read the result.
type summing interface {
	deferred
	Summed(r *Var) deferred
}

// sumAlong returns the sum of x and y if the operation that makes one of them waits, and
// adds the other on its way, else nil.
func (x *Var) sumAlong(y *Var) *Var {
	m, r, l := x, y, x.along()
	if l == nil && y != nil {
		m, r, l = y, x, y.along()
	}
	if l == nil || r == nil || r.late.Load() == l || r.csr != nil || !slices.Equal(x.val.Shape(), y.val.Shape()) {
		return nil
	}
	r.alive("Add")
	r.ready("Add")
	with, sum := l.takeSummed(r)
	if with == nil {
		return nil
	}
	n := sumWith{x: x, y: y, r: r, with: with, sum: sum, from: l, pulls: l.op.needs}
	n.lone = r.tape != nil && r.needs && r.base == nil && !r.hold && !r.used && r.tape.loop == nil
	op := l.begin("Add", m, r)
	n.out = op.over(sum.val.Data, x.val.Shape())
	if tr := op.trace; tr != nil { // r first, whose gradient lies in the sum's place
		last := len(tr.xs) - 1
		if tr.xs = append([]*Var{r}, tr.xs[:last]...); n.lone {
			tr.xs, tr.over = append(tr.xs[1:], r), r
		}
	}
	with.Run(l.op, sum)
	to := notes[sumWith](op)
	*to = n
	return op.recordBy(n.out, to)
}

// takeSummed is takeBiased with what is added to all elements.
func (l *late) takeSummed(r *Var) (with deferred, y *Var) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of, ok := l.of.(summing)
	if !ok || l.state != waiting {
		return nil, nil
	}
	if with = of.Summed(r); with == nil {
		return nil, nil
	}
	return with, l.take()
}

// sumWith is the pullback of x + y, of which one is r and the operation that makes the
// other has added that.
type sumWith struct {
	x, y, r *Var
	with    deferred
	sum     *Var // the result as with sees it
	out     *Var // and as others do
	from    *late
	pulls   bool // the gradient of with is wanted
	lone    bool // nothing that was recorded before has read r
	dy      tensor.Dense
}

// took implements [taker].
func (n *sumWith) took() string { return n.from.op.name }

// Pull adds to the gradient of r, and to those of the other summand's operands. Of an r that
// only the sum has read the gradient is dy itself, when that has been read.
func (n *sumWith) Pull(dy *tensor.Dense) {
	if n.from.apart {
		(&binaryNotes{f: vec.Add, x: n.x, y: n.y, sum: true}).Pull(dy)
		return
	}
	passes := !n.lone || n.r.has
	if passes {
		n.pass(dy)
	}
	if n.pulls {
		n.dy = n.sum.val
		n.dy.Data = dy.Data
		n.with.Pull(&n.dy)
	}
	if !passes {
		n.out.giveGrad(n.r)
	}
}

// pass copies dy to the gradient of r, or adds it.
func (n *sumWith) pass(dy *tensor.Dense) {
	if dr, fresh := n.r.freshGrad(); fresh {
		tensor.SetGrad(dr, dy, dy, dy, tensor.Unary(vec.Shift), 0)
	} else if dr != nil {
		tensor.CombineGradX(dr, dy, dy, dy, tensor.Binary(vec.Add))
	}
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
