package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Op is an operation in the making, from [Begin] to Record: how every operation is written,
// here and in other packages. The package's comment has one.
type Op struct {
	name  string
	tape  *Tape
	needs bool
	step  bool   // in a step of a loop that is on no tape, or not yet
	trace *trace // nil unless the tape keeps operands
}

// Begin starts an operation on xs. It panics with a [*TapeError] if one of them
// is of another tape, or of a tape that has been Reset since.
func Begin(name string, xs ...*Var) Op { return begin(name, nil, xs) }

// begin is Begin of an operation that takes along what waits as along, or leaves
// it alone.
func begin(name string, along *late, xs []*Var) Op { return beginWithout(name, along, nil, xs) }

// beginWithout is begin of an operation that does without all of aside, which may wait on. If
// aside is nil, there is none.
func beginWithout(name string, along *late, aside *Var, xs []*Var) Op {
	op := Op{name: name}
	for _, x := range xs {
		if x == nil {
			panic(&TapeError{Op: name, Why: "an operand is nil"})
		}
		op.step = op.step || x.step
		if x.tape == nil {
			if l := x.late.Load(); l != nil && l != along {
				l.read(name, true)
			}
			continue
		}
		x.alive(name)
		if op.tape != nil && op.tape != x.tape {
			panic(&TapeError{Op: name, Why: "operands of two tapes"})
		}
		op.tape = x.tape
		op.needs = op.needs || x.needs
		if l := x.late.Load(); l != nil && l != along && x != aside {
			l.read(name, true)
		}
		x.used = true
	}
	if t := op.tape; t != nil {
		t.heed()
		if t.waiting != along {
			t.settle()
		}
		t.sum = nil
		t.begin(name)
	}
	if t := op.tape; t != nil && t.traced {
		op.trace = &trace{xs: append([]*Var(nil), xs...)}
	}
	if t := op.tape; t != nil && t.prof != nil {
		t.prof.enter(t.label, name)
	}
	return op
}

// Needs reports whether the gradient of any operand is wanted. If not, what is
// given to Record is never called.
func (op Op) Needs() bool { return op.needs }

// New returns a new zero Var, the operation's result until it is recorded.
func (op Op) New(shape ...int) *Var {
	return op.over(op.tape.take(tensor.Size(shape...)), shape)
}

// over returns a Var of the given elements.
func (op Op) over(data []tensor.Float, shape []int) *Var {
	v := op.newVar()
	v.val.Set(data, shape...)
	return v
}

// newVar returns a zero Var.
func (op Op) newVar() *Var {
	v := op.tape.newVar()
	v.step = op.step
	return v
}

// newLike is New of x's shape.
func (op Op) newLike(x *Var) *Var {
	v := op.newVar()
	v.val = *x.Value()
	v.val.Data = op.tape.take(len(x.val.Data))
	return v
}

// freshLike is Fresh of x's shape.
func (op Op) freshLike(x *Var) *Var {
	v := op.newVar()
	v.val = *x.Value()
	v.val.Data = op.tape.takeFresh(len(x.val.Data))
	return v
}

// Fresh is [Op.New] for an operation that sets every element of its result: they
// hold anything until then. With the race detector that is NaN, so that tests
// notice one that was left out.
func (op Op) Fresh(shape ...int) *Var {
	return op.over(op.tape.takeFresh(tensor.Size(shape...)), shape)
}

// Floats returns n zeroed elements that live until the tape's next Reset.
func (op Op) Floats(n int) []tensor.Float { return op.tape.take(n) }

// freshFloats is [Op.Floats] of elements that hold anything until they are set.
func (op Op) freshFloats(n int) []tensor.Float { return op.tape.takeFresh(n) }

// Ints returns n zeroed indices that live until the tape's next Reset.
func (op Op) Ints(n int) []int32 { return op.tape.takeInts(n) }

// Scratch calls f with n zeroed elements that are taken back when it returns.
func (op Op) Scratch(n int, f func(buf []tensor.Float)) {
	buf := op.tape.borrow(n)
	defer op.tape.recycle(buf)
	f(buf)
}

// freshScratch is [Op.Scratch] of elements that hold anything until they are set.
func (op Op) freshScratch(n int, f func(buf []tensor.Float)) {
	buf, _ := op.tape.lend(n)
	defer op.tape.recycle(buf)
	f(buf)
}

// Record makes y the operation's result. In Backward pull is given y's gradient
// and adds to the gradient of each operand that [Var.Needs] it. It must not
// write to dy.
func (op Op) Record(y *Var, pull func(dy *tensor.Dense)) *Var {
	return op.recordBy(y, pullOf(pull))
}

// pullback is what an operation does in Backward: it is given the gradient of
// the operation's result and adds to those of the operands, like the function of
// [Op.Record]. dy is nil of an operation with several results.
type pullback = interface{ Pull(dy *tensor.Dense) }

// pullOf is a function as a pullback.
type pullOf func(dy *tensor.Dense)

// Pull calls it.
func (f pullOf) Pull(dy *tensor.Dense) { f(dy) }

// pullAll is one of an operation with several results.
type pullAll func()

// Pull calls it.
func (f pullAll) Pull(*tensor.Dense) { f() }

// done takes the operation's name off the profile.
func (op Op) done() {
	t := op.tape
	if t == nil {
		return
	}
	t.open--
	if t.prof != nil {
		t.prof.enter(t.label, "")
	}
}

// RecordAll makes ys the results of an operation with several. In Backward pull
// runs if the gradient of any of them was asked for; it reads them with
// [Var.Grad].
func (op Op) RecordAll(ys []*Var, pull func()) {
	op.recordAllBy(ys, pullAll(pull))
}

// recordBy is [Op.Record] with a pullback that needs no closure.
func (op Op) recordBy(y *Var, p pullback) *Var {
	op.done()
	if y.tape != nil && y.gen != y.tape.gen {
		panic(shared(op.name + " while Reset runs"))
	}
	if op.needs {
		y.needs = true
		if n := op.tape.record(op.name, y, p); n != nil {
			n.trace = op.trace
		}
	}
	return y
}

// recordAllBy is [Op.RecordAll] with a pullback that needs no closure.
func (op Op) recordAllBy(ys []*Var, p pullback) {
	op.done()
	if !op.needs {
		return
	}
	for _, y := range ys {
		y.needs = true
	}
	if n := op.tape.push(op.name, p); n != nil {
		n.outs, n.trace = op.tape.several(ys), op.trace
	}
}

// beginView begins an operation that makes a view of x: what waits goes on to.
func beginView(name string, x *Var) Op {
	var along *late
	if x.tape != nil {
		along = x.tape.waiting
	}
	xs := [...]*Var{x}
	return begin(name, along, xs[:])
}

// view returns elements at, at+1, … of x under a shape: its value and its
// gradient are x's own.
func (op Op) view(x *Var, at int, shape ...int) *Var {
	n := tensor.Size(shape...)
	v := op.newVar()
	root, from := x.origin() // so that no view stands on many
	v.needs, v.base, v.at = x.needs, root, from+at
	v.val.Set(x.val.Data[at:at+n:at+n], shape...)
	return v
}

// notes returns a zero T that lives until the tape's next Reset, and is another
// operation's afterwards. A [pullback] that is one knows its operands without
// garbage, as operations want that a [loop] runs round by round.
func notes[T any](op Op) *T {
	t := op.tape
	if t == nil {
		return new(T)
	}
	for _, p := range t.notes {
		if s, ok := p.(*slab[T]); ok {
			return s.take()
		}
	}
	s := new(slab[T])
	t.notes = append(t.notes, s)
	return s.take()
}

// note is [notes] of what is of.
func note[T any](op Op, of T) *T {
	n := notes[T](op)
	*n = of
	return n
}

// several returns a copy of ys that lives until the next Reset.
func (t *Tape) several(ys []*Var) []*Var {
	n := len(t.results)
	t.results = append(t.results, ys...)
	return t.results[n:len(t.results):len(t.results)]
}

// resetNotes takes back what operations noted.
func (t *Tape) resetNotes() {
	for _, s := range t.notes {
		s.empty()
	}
	clear(t.results)
	t.results = t.results[:0]
}

// dry reports whether the operation is to leave out its arithmetic, as under [Measure]. Its
// pullback does not run then, and is taken to borrow that much scratch: see tape.Dry.
func (op Op) dry(scratch int) bool {
	if !op.measuring() {
		return false
	}
	if op.trace != nil {
		op.trace.skip, op.trace.scratch = true, scratch
	}
	return true
}

// measuring is [Op.dry] for an operation whose pullback runs, too, and takes its memory.
func (op Op) measuring() bool { return op.tape != nil && op.tape.dry }

// pulls notes of which operands the pullback makes the gradients, in this order, where it
// is not of all.
func (op Op) pulls(xs ...*Var) {
	if op.trace != nil {
		op.trace.xs = append(op.trace.xs[:0], xs...)
	}
}

// pullsLast notes that the pullback ends with the operand x.
func (op Op) pullsLast(x *Var) {
	if op.trace != nil {
		at := slices.Index(op.trace.xs, x)
		op.trace.xs = append(slices.Delete(op.trace.xs, at, at+1), x)
	}
}

// pullsFirst notes that the pullback begins with the last of the operands, b.
func (op Op) pullsFirst(b *Var) {
	if op.trace != nil {
		xs := op.trace.xs
		op.trace.xs = append([]*Var{b}, xs[:len(xs)-1]...)
	}
}

// extents is room for a shape.
type extents [tensor.MaxAxes]int

// small is how many elements an operation takes by itself: to share them out
// would cost more than they do.
const small = 1 << 10

// leading returns the number of rows when the last axis is a row.
func leading(shape []int) int {
	n := 1
	for _, s := range shape[:len(shape)-1] {
		n *= s
	}
	return n
}

// lastOne writes a shape whose last axis has length 1 to room.
func lastOne(room *extents, shape []int) []int {
	s := append(room[:0], shape...)
	s[len(s)-1] = 1
	return s
}

// matrix returns x as a matrix whose rows are its last axis.
func matrix(x *tensor.Dense) *tensor.Dense {
	if x.Axes() == 2 {
		return x
	}
	return x.Reshape(leading(x.Shape()), x.Dim(-1))
}

// addTo is dst += src.
func addTo(dst, src []tensor.Float) { vec.Axpy(dst, 1, src) }
