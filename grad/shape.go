package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// leading returns the number of rows when the last axis is a row.
func leading(shape []int) int {
	n := 1
	for _, s := range shape[:len(shape)-1] {
		n *= s
	}
	return n
}

// Reshape returns x under another shape, as a view; −1 stands for what is left.
func (x *Var) Reshape(shape ...int) *Var {
	op := beginView("Reshape", x)
	var room extents
	if l := x.along(); l != nil && l.y != nil {
		y := op.view(x, 0, x.val.AppendInfer(room[:0], shape)...)
		l.watch(y)
		return y
	}
	return op.view(x, 0, x.Value().AppendInfer(room[:0], shape)...)
}

// RowRange returns rows lo to hi, without hi, as a view.
func (x *Var) RowRange(lo, hi int) *Var {
	op := beginView("RowRange", x)
	var room extents
	shape := append(room[:0], x.Value().Shape()...)
	if lo < 0 || hi < lo || hi > shape[0] {
		panic(&tensor.ShapeError{Op: "tensor.RowRange", Shapes: [][]int{slices.Clone(x.val.Shape()), {lo, hi}}, Why: "no such rows"})
	}
	shape[0] = hi - lo
	return op.view(x, lo*x.val.RowLen(), shape...)
}

// InsertAxis returns x with an axis of length 1 before axis i, as a view; −1
// means behind the last. It puts back an axis that SumAxis or MaxAxis took away.
func (x *Var) InsertAxis(i int) *Var {
	op := beginView("InsertAxis", x)
	shape := x.Value().Shape()
	if i < 0 {
		i += len(shape) + 1
	}
	if i < 0 || i > len(shape) || len(shape) == tensor.MaxAxes {
		panic(&tensor.ShapeError{Op: "grad.InsertAxis", Shapes: [][]int{slices.Clone(shape), {i}}, Why: "no place for another axis"})
	}
	var room extents
	with := append(room[:0], shape[:i]...)
	with = append(with, 1)
	return op.view(x, 0, append(with, shape[i:]...)...)
}

// Transpose exchanges the last two axes.
func (x *Var) Transpose() *Var {
	op := Begin("Transpose", x)
	var room extents
	shape := append(room[:0], x.Value().Shape()...)
	k := len(shape) - 2
	if k < 0 {
		panic(&tensor.ShapeError{Op: "grad.Transpose", Shapes: [][]int{slices.Clone(shape)}, Why: "there are no two axes"})
	}
	shape[k], shape[k+1] = shape[k+1], shape[k]
	y := op.Fresh(shape...)
	if !op.dry(len(y.val.Data)) {
		tensor.Transpose(&y.val, &x.val)
	}
	n := notes[turnNotes](op)
	n.x = x
	return op.recordBy(y, n)
}

// turnNotes is the pullback of x transposed.
type turnNotes struct {
	x      *Var
	turned tensor.Dense // while it runs, the gradient transposed
}

// Pull adds to x's gradient.
func (n *turnNotes) Pull(dy *tensor.Dense) {
	t := n.x.tape
	n.turned = n.x.val
	n.turned.Data, _ = t.lend(len(dy.Data))
	tensor.Transpose(&n.turned, dy)
	addTo(n.x.Grad().Data, n.turned.Data)
	t.recycle(n.turned.Data)
}

// Expand stretches axes of length 1, and adds leading ones, as broadcasting does.
func (x *Var) Expand(shape ...int) *Var {
	op := Begin("Expand", x)
	var room extents
	if to, ok := tensor.AppendBroadcast(room[:0], x.Value().Shape(), shape); !ok || !slices.Equal(to, shape) {
		panic(&tensor.ShapeError{Op: "grad.Expand", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(shape)}, Why: "the first does not stretch to the second"})
	}
	y := op.Fresh(shape...)
	n := notes[expandNotes](op)
	*n = expandNotes{x, tensor.Pair(x.val.Shape(), shape, shape)}
	if !op.dry(0) {
		n.stretch(y.val.Data)
	}
	return op.recordBy(y, n)
}

// expandNotes is the pullback of x stretched along p.
type expandNotes struct {
	x *Var
	p tensor.Pairing
}

// stretch sets y to x.
func (n *expandNotes) stretch(y []tensor.Float) {
	n.p.Rows(func(at, from, _ int) {
		to := y[at : at+n.p.N]
		if n.p.SX == 1 {
			copy(to, n.x.val.Data[from:])
			return
		}
		for i := range to {
			to[i] = n.x.val.Data[from]
		}
	})
}

// Pull adds to x's gradient.
func (n *expandNotes) Pull(dy *tensor.Dense) {
	dx := n.x.Grad().Data
	n.p.Rows(func(at, from, _ int) {
		g := dy.Data[at : at+n.p.N]
		if n.p.SX == 1 {
			addTo(dx[from:from+n.p.N], g)
		} else {
			dx[from] += vec.Sum(g)
		}
	})
}

// addTo is dst += src.
func addTo(dst, src []tensor.Float) { vec.Axpy(dst, 1, src) }

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
