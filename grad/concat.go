package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
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

// ConcatScaled is [Concat] of the products of each row of xs[i] with its number in
// by[i], which has a column, or none where by[i] is nil. The numbers get no gradient.
// No product is stored but in the result.
func ConcatScaled(xs, by []*Var) *Var {
	op := Begin("ConcatScaled", xs...)
	op.wantSome(xs)
	if len(by) != len(xs) {
		panic(&tensor.ShapeError{Op: "grad.ConcatScaled", Shapes: [][]int{{len(xs)}, {len(by)}}, Why: "each array needs numbers, or nil"})
	}
	rows, width := xs[0].Value().Dim(0), 0
	for i, x := range xs {
		if x.Value().Axes() != 2 || x.Dim(0) != rows {
			panic(tensor.Mismatch("grad.ConcatScaled", xs[0], x))
		}
		if by[i] != nil && (len(by[i].Value().Data) != rows || by[i].Dim(-1) != 1) {
			panic(tensor.Mismatch("grad.ConcatScaled", x, by[i]))
		}
		width += x.Dim(1)
	}
	return op.joinScaled(xs, by, []int{rows, width}, span{rows, width, 1})
}

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
	return op.joinScaled(xs, nil, shape, whole)
}

// joinScaled is join of multiples of xs, unless by is nil.
func (op Op) joinScaled(xs, by []*Var, shape []int, whole span) *Var {
	y := op.Fresh(shape...)
	n := note(op, joinNotes{shape: whole, by: by})
	if !op.dry(0) {
		at := 0
		for i, x := range xs {
			n.part = joinPart{x: x.val.Data, whole: y.val.Data, c: n.scales(i), width: whole.n * whole.inner, at: at, run: whole.run(x)}
			n.part.all(whole.outer)
			at += whole.run(x)
		}
	}
	if op.needs {
		n.xs = op.tape.several(xs)
	}
	return op.recordBy(y, n)
}

// run is how many elements of x follow each other in a whole of which it is a
// part.
func (s span) run(x *Var) int { return len(x.val.Data) / max(1, s.outer) }

// joinNotes is the pullback of xs joined.
type joinNotes struct {
	xs, by []*Var
	shape  span // of the whole
	part   joinPart
}

// Pull adds to the gradients of the parts; to those of multiples last, from the last to
// the first, as if each had been an operation of its own.
func (n *joinNotes) Pull(dy *tensor.Dense) {
	at := 0
	for i, x := range n.xs {
		if n.scales(i) == nil {
			n.pull(i, at, dy)
		}
		at += n.shape.run(x)
	}
	for i := len(n.xs) - 1; i >= 0 && n.by != nil; i-- {
		at -= n.shape.run(n.xs[i])
		if n.scales(i) != nil {
			n.pull(i, at, dy)
		}
	}
}

// pull adds to the gradient of part i, which begins at at.
func (n *joinNotes) pull(i, at int, dy *tensor.Dense) {
	x := n.xs[i]
	if dx, fresh := x.freshGrad(); dx != nil {
		n.part = joinPart{x: x.val.Data, dx: dx.Data, set: fresh, whole: dy.Data, c: n.scales(i), width: n.shape.n * n.shape.inner, at: at, run: n.shape.run(x)}
		n.part.all(n.shape.outer)
	}
}

// scales returns what the rows of part i are multiplied by, or nil.
func (n *joinNotes) scales(i int) []tensor.Float {
	if n.by == nil || n.by[i] == nil {
		return nil
	}
	return n.by[i].Value().Data
}

// joinPart is one of the parts of a whole, or with dx of a whole's gradient: run elements
// of each block, from number at on.
type joinPart struct {
	x, dx, whole, c []tensor.Float // c: what each row is multiplied by; nil: 1
	width, at, run  int
	set             bool // dx holds anything

	blocks, step int // of all
}

// joinAlone is how many elements one thread copies by itself.
const joinAlone = 1 << 14

// all sets the part, or adds to its gradient, on several threads: the blocks of one part
// have no element in common.
func (p *joinPart) all(blocks int) {
	p.blocks, p.step = blocks, max(1, joinAlone/max(1, p.run))
	par.Run((blocks+p.step-1)/p.step, p)
	*p = joinPart{}
}

// Chunk does the i-th share of the blocks.
func (p *joinPart) Chunk(i int) {
	for j := i * p.step; j < min((i+1)*p.step, p.blocks); j++ {
		own, whole := p.x[j*p.run:(j+1)*p.run], p.whole[j*p.width+p.at:][:p.run]
		if p.dx == nil {
			p.take(whole, own, j)
			continue
		}
		switch d := p.dx[j*p.run : (j+1)*p.run]; {
		case p.set:
			p.take(d, whole, j)
		case p.c == nil:
			addTo(d, whole)
		default:
			vec.Mul.BackwardX(d, whole, own, p.c[j:j+1], 1, 0)
		}
	}
}

// take sets dst to block j of x, or to its multiple.
func (p *joinPart) take(dst, x []tensor.Float, j int) {
	if p.c == nil {
		copy(dst, x)
	} else {
		vec.Mul.Forward(dst, x, p.c[j:j+1], 1, 0)
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
	n := note(op, sliceNotes{x: x, s: s, lo: lo, n: (hi - lo) * s.inner, part: y.val.Data})
	if !op.dry(0) {
		n.all()
	}
	return op.recordBy(y, n)
}

// sliceNotes is the pullback of n elements of each block of x, from number lo of
// the axis on.
type sliceNotes struct {
	x     *Var
	s     span
	lo, n int

	part, dx []tensor.Float // of all: the slice, and the gradient of x, which it is added to, if it is not nil
}

// Pull adds to x's gradient.
func (c *sliceNotes) Pull(dy *tensor.Dense) {
	c.part, c.dx = dy.Data, c.x.Grad().Data
	c.all()
}

// step is how many blocks a thread takes at a time.
func (c *sliceNotes) step() int { return max(1, joinAlone/max(1, c.n)) }

// all copies the slice out of x, or adds it to dx.
func (c *sliceNotes) all() {
	par.Run((c.s.outer+c.step()-1)/c.step(), c)
	c.part, c.dx = nil, nil
}

// Chunk does the i-th share of the blocks.
func (c *sliceNotes) Chunk(i int) {
	for j := i * c.step(); j < min((i+1)*c.step(), c.s.outer); j++ {
		at, part := (j*c.s.n+c.lo)*c.s.inner, c.part[j*c.n:(j+1)*c.n]
		if c.dx != nil {
			addTo(c.dx[at:at+c.n], part)
		} else {
			copy(part, c.x.val.Data[at:])
		}
	}
}
