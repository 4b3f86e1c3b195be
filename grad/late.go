package grad

import (
	"sync"

	"github.com/edgewise-ml/edgewise/tensor"
)

// deferred is the [pullback] of an operation whose result may wait. Run sets every
// element of y, the result; memory that it lacks it takes from op.
type deferred = interface {
	Pull(dy *tensor.Dense)
	Run(op Op, y *Var)
}

// late is a result that cannot be read as it is: it waits, or another operation
// has taken it along, or its memory was given up.
type late struct {
	mu    sync.Mutex
	state lateness
	op    Op
	label string
	of    deferred
	out   *Var    // the result that others have
	y     *Var    // its elements as those see them that compute it; nil: there are none yet
	views [2]*Var // of all of out
	loop  *loop   // of what was given up: in which
	to    int     // and which rows
	apart bool    // of what was taken along: an operation has read it after all
	by    *trace  // of the operation that took it along
	alone []*Var  // and its operands otherwise, if by is not nil
}

// A gradient comes back to the operation that was taken along past its result, or
// by it, as if nothing were joined, where another operation has read that.

// lateness says what a result lacks.
type lateness uint8

const (
	settled lateness = iota // nothing
	waiting                 // it was not worked out yet
	taken                   // it was worked out only as a part of another operation
	given                   // it was overwritten
)

// givenUp is of a result that was overwritten.
var givenUp = &late{state: given}

// recordLate is [Op.recordBy] of a result that may wait: the operation has its place on the
// tape, but runs when the result is read, or when the next operation begins, which may take
// it along and run both as one. All operands must be the tape's own: see tape.RecordLate.
func (op Op) recordLate(y *Var, l deferred) *Var {
	t := op.tape
	if t == nil || !waits {
		l.Run(op, y)
		return op.recordBy(y, l)
	}
	t.settle()
	out := op.over(y.val.Data, y.val.Shape())
	op.wait(out, y, l)
	return op.recordBy(out, l)
}

// waits is switched off by tests that compare operations that run as one with
// the same ones each by itself.
var waits = true

// wait makes out a result that waits, which will be computed as y, for the next operation.
func (op Op) wait(out, y *Var, of deferred) {
	if l := op.postpone(out, y, of); op.tape != nil {
		op.tape.waiting = l
	}
}

// postpone makes out a result that is computed as y when it is first read: no operation
// takes it along, and those that follow leave it. If y is nil, its memory is taken then.
func (op Op) postpone(out, y *Var, of deferred) *late {
	l := notes[late](op)
	l.state, l.op, l.of, l.out, l.y = waiting, op, of, out, y
	if op.tape != nil {
		l.label = op.tape.label
	}
	out.late.Store(l)
	return l
}

// ownMost is how many elements of a leaf are copied rather than not waited for.
const ownMost = 1 << 12

// own reports whether an operation on xs may wait: whether all their elements are
// the tape's own. In the place of a small leaf, such as a bias, it puts a Var of
// its gradient and of a copy of its elements.
func (op Op) own(xs []*Var) bool {
	if op.tape == nil || !waits {
		return false
	}
	for _, x := range xs {
		if x.leaf() && (x.csr != nil || len(x.Value().Data) > ownMost) {
			return false
		}
	}
	for i, x := range xs {
		if x.leaf() {
			xs[i] = op.copyOf(x)
		}
	}
	return true
}

// leaf reports whether others than the tape can write to x's elements.
func (x *Var) leaf() bool {
	root, _ := x.origin()
	return root.tape == nil || root.hold
}

// copyOf returns a Var of x's gradient and of a copy of its elements.
func (op Op) copyOf(x *Var) *Var {
	data := op.freshFloats(len(x.Value().Data))
	if !op.measuring() {
		copy(data, x.val.Data)
	}
	if x.tape == nil {
		return op.over(data, x.val.Shape())
	}
	v := op.view(x, 0, x.val.Shape()...)
	v.val.Data = data
	return v
}

// settle has what waits on the tape worked out.
func (t *Tape) settle() {
	if l := t.waiting; l != nil {
		t.waiting = nil
		l.read("", true)
	}
}

// ready has x worked out for the operation op, unless it is.
func (x *Var) ready(op string) {
	if l := x.late.Load(); l != nil {
		l.read(op, false)
	}
}

// read works out a result that waits or that was taken along. Only an operation
// of the tape takes its memory: any goroutine may read a result.
func (l *late) read(name string, operation bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.state {
	case settled:
		return
	case given:
		panic(&TapeError{Op: name, Why: "these rows were given up with Level.Take, so that the sum with them lies in their place; use Level.Part where they are read again"})
	}
	op, t := l.op, l.op.tape
	if t != nil && !operation && l.out.made == nil && !t.dry {
		op.tape = nil
	}
	if operation && l.state == taken {
		if l.apart = true; l.by != nil {
			*l.by = trace{xs: l.alone, skip: l.by.skip}
		}
	}
	y := l.y
	if y == nil {
		y = l.room(op)
	}
	if t != nil && t.prof != nil {
		t.prof.enter(l.label, op.name)
	}
	l.of.Run(op, y)
	if t != nil && t.prof != nil {
		t.prof.enter(t.label, "")
	}
	l.out.val.Data, l.out.base, l.out.at = y.val.Data, y.base, y.at
	l.release(l.out.val.Data)
}

// placer is a deferred that says where its result lies.
type placer interface{ place(op Op) *Var }

// room returns the elements of a result that has none.
func (l *late) room(op Op) *Var {
	if p, ok := l.of.(placer); ok {
		return p.place(op)
	}
	return op.Fresh(l.out.val.Shape()...)
}

// release says that the result is there, with these elements.
func (l *late) release(data []tensor.Float) {
	l.state = settled
	for _, v := range l.views {
		if v != nil {
			v.val.Data = data
			v.late.Store(nil)
		}
	}
	l.out.late.Store(nil)
}

// along returns what waits if x is all of it.
func (x *Var) along() *late {
	t := x.tape
	if t == nil || t.waiting == nil || x.gen != t.gen || x.late.Load() != t.waiting {
		return nil
	}
	return t.waiting
}

// take has another operation work out what waits, in the memory of y. The lock is
// held, and it does wait: another goroutine may have read it.
func (l *late) take() (y *Var) {
	y = l.y
	if l.state, l.y = taken, nil; l.op.tape != nil {
		l.op.tape.waiting = nil
	}
	l.bare()
	return y
}

// takeWaiting is take if it waits still, else nil.
func (l *late) takeWaiting() *Var {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state != waiting {
		return nil
	}
	return l.take()
}

// takeAs takes along the result x if all of it waits and is a T's. y is its memory, or nil
// if nothing was taken.
func takeAs[T deferred](x *Var) (l *late, of T, y *Var) {
	if l = x.along(); l == nil || l.out != x {
		return nil, of, nil
	}
	of, ok := l.of.(T)
	if !ok {
		return nil, of, nil
	}
	return l, of, l.takeWaiting()
}

// begin begins an operation on xs, of which the first is l's and taken along.
func (l *late) begin(name string, xs ...*Var) Op {
	op := begin(name, l, xs)
	if op.trace != nil && l.op.trace != nil {
		along := l.op.trace
		l.by, l.alone = op.trace, op.trace.xs
		op.trace.xs, op.trace.skip, op.trace.scratch, op.trace.over = append(along.xs[:len(along.xs):len(along.xs)], xs[1:]...), along.skip, along.scratch, along.over
	}
	return op
}

// bare takes the elements of the result away, so that nothing reads those of the
// operation that took it along.
func (l *late) bare() {
	l.out.val.Data = nil
	for _, v := range l.views {
		if v != nil {
			v.val.Data = nil
		}
	}
}

// watch adds v, a view of all that waits, if there is room.
func (l *late) watch(v *Var) {
	for i, old := range l.views {
		if old == nil {
			l.views[i] = v
			v.late.Store(l)
			return
		}
	}
	l.op.tape.settle()
	v.val.Data = l.out.val.Data
}

// taker is a pullback of an operation that took another along.
type taker interface{ took() string }

// skipped reports whether n was worked out only as a part of another operation.
func (n *node) skipped() bool {
	if n.out == nil {
		return false
	}
	l := n.out.late.Load()
	return l != nil && l.state == taken
}
