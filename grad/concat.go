package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// span is an array seen along one axis: outer blocks of n runs of inner
// elements.
type span struct{ outer, n, inner int }

// axis returns the number of an axis of x, where a negative one counts from the
// last, and x seen along it.
func (x *Var) axis(op string, axis int) (int, span) {
	shape := x.Value().Shape()
	i := axis
	if i < 0 {
		i += len(shape)
	}
	if i < 0 || i >= len(shape) {
		panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(shape), {axis}}, Why: "no such axis"})
	}
	s := span{1, shape[i], 1}
	for _, d := range shape[:i] {
		s.outer *= d
	}
	for _, d := range shape[i+1:] {
		s.inner *= d
	}
	return i, s
}

// Concat joins arrays along the last axis; all other axes must agree.
func Concat(xs ...*Var) *Var { return concat("Concat", -1, xs) }

// ConcatAxis joins arrays along an axis; all others must agree. A negative axis
// counts from the last.
func ConcatAxis(axis int, xs ...*Var) *Var { return concat("ConcatAxis", axis, xs) }

// Stack joins arrays of one shape along a new first axis.
func Stack(xs ...*Var) *Var {
	op := Begin("Stack", xs...)
	op.wantSome(xs)
	sh := xs[0].Value().Shape()
	if len(sh) == tensor.MaxAxes {
		panic(&tensor.ShapeError{Op: "grad.Stack", Shapes: [][]int{slices.Clone(sh)}, Why: "no place for another axis"})
	}
	for _, x := range xs {
		if !slices.Equal(x.Value().Shape(), sh) {
			panic(tensor.Mismatch("grad.Stack", xs[0], x))
		}
	}
	var room extents
	shape := append(append(room[:0], len(xs)), sh...)
	return op.join(xs, shape, span{1, len(xs), len(xs[0].val.Data)})
}

// wantSome panics if there are no xs.
func (op Op) wantSome(xs []*Var) {
	if len(xs) == 0 {
		panic(&TapeError{Op: op.name, Why: "nothing to join"})
	}
}

func concat(name string, axis int, xs []*Var) *Var {
	op := Begin(name, xs...)
	op.wantSome(xs)
	i, s := xs[0].axis(name, axis)
	var room extents
	shape := append(room[:0], xs[0].Shape()...)
	shape[i] = 0
	for _, x := range xs {
		if sh := x.Value().Shape(); len(sh) != len(shape) || !slices.Equal(sh[:i], shape[:i]) || !slices.Equal(sh[i+1:], xs[0].Shape()[i+1:]) {
			panic(tensor.Mismatch("grad."+name, xs[0], x))
		}
		shape[i] += x.Dim(i)
	}
	return op.join(xs, shape, span{s.outer, shape[i], s.inner})
}

// join is xs, one behind the other along the axis along which the result is
// whole.
func (op Op) join(xs []*Var, shape []int, whole span) *Var {
	y := op.Fresh(shape...)
	n := Notes[joinNotes](op)
	n.whole = whole
	if !op.Dry(0) {
		at := 0
		for _, x := range xs {
			run := whole.run(x)
			for j := range whole.outer {
				copy(y.val.Data[j*whole.n*whole.inner+at:], x.val.Data[j*run:(j+1)*run])
			}
			at += run
		}
	}
	if op.needs {
		n.xs = op.tape.several(xs)
	}
	return op.RecordBy(y, n)
}

// run is how many elements of x follow each other in a whole of which it is a
// part.
func (s span) run(x *Var) int { return len(x.val.Data) / max(1, s.outer) }

// joinNotes is the pullback of xs joined.
type joinNotes struct {
	xs    []*Var
	whole span
}

// Pull adds to the gradients of the parts.
func (n *joinNotes) Pull(dy *tensor.Dense) {
	s, at := n.whole, 0
	for _, x := range n.xs {
		run := s.run(x)
		if dx := x.Grad(); dx != nil {
			for j := range s.outer {
				from := j*s.n*s.inner + at
				addTo(dx.Data[j*run:(j+1)*run], dy.Data[from:from+run])
			}
		}
		at += run
	}
}

// Split cuts x along the last axis into parts of the given widths.
func (x *Var) Split(widths ...int) []*Var { return x.split("Split", -1, widths) }

// SplitAxis cuts x along an axis into parts of the given lengths. A negative axis
// counts from the last.
func (x *Var) SplitAxis(axis int, lengths ...int) []*Var { return x.split("SplitAxis", axis, lengths) }

func (x *Var) split(name string, axis int, lengths []int) []*Var {
	_, s := x.axis(name, axis)
	ys, at := make([]*Var, len(lengths)), 0
	for i, n := range lengths {
		ys[i] = x.slice(name, axis, at, at+n)
		at += n
	}
	if at != s.n {
		panic(&tensor.ShapeError{Op: "grad." + name, Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(lengths)}, Why: "the lengths do not add up to the axis"})
	}
	return ys
}

// Columns returns elements lo to hi, without hi, of the last axis.
func (x *Var) Columns(lo, hi int) *Var { return x.slice("Columns", -1, lo, hi) }

// Slice returns elements lo to hi, without hi, of an axis; a negative axis counts
// from the last. Of the first axis [Var.RowRange] is a view.
func (x *Var) Slice(axis, lo, hi int) *Var { return x.slice("Slice", axis, lo, hi) }

func (x *Var) slice(name string, axis, lo, hi int) *Var {
	op := Begin(name, x)
	i, s := x.axis(name, axis)
	if lo < 0 || hi < lo || hi > s.n {
		panic(&tensor.ShapeError{Op: "grad." + name, Shapes: [][]int{slices.Clone(x.Shape()), {lo, hi}}, Why: "no such range of the axis"})
	}
	var room extents
	shape := append(room[:0], x.Shape()...)
	shape[i] = hi - lo
	y := op.Fresh(shape...)
	n := (hi - lo) * s.inner
	if !op.Dry(0) {
		for j := range s.outer {
			copy(y.val.Data[j*n:j*n+n], x.val.Data[(j*s.n+lo)*s.inner:])
		}
	}
	notes := Notes[sliceNotes](op)
	*notes = sliceNotes{x, s, lo, n}
	return op.RecordBy(y, notes)
}

// sliceNotes is the pullback of n elements of each block of x, from number lo of
// the axis on.
type sliceNotes struct {
	x     *Var
	s     span
	lo, n int
}

// Pull adds to x's gradient.
func (c *sliceNotes) Pull(dy *tensor.Dense) {
	dx := c.x.Grad().Data
	for j := range c.s.outer {
		at := (j*c.s.n + c.lo) * c.s.inner
		addTo(dx[at:at+c.n], dy.Data[j*c.n:(j+1)*c.n])
	}
}
