package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
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
	op := Begin("Reshape", x)
	return op.view(x, 0, x.Value().Infer(shape...)...)
}

// RowRange returns rows lo to hi, without hi, as a view.
func (x *Var) RowRange(lo, hi int) *Var {
	op := Begin("RowRange", x)
	v := x.Value().RowRange(lo, hi)
	return op.view(x, lo*x.val.RowLen(), v.Shape()...)
}

// Rows returns the given rows of x, in that order; a row may occur several
// times.
func (x *Var) Rows(rows []int32) *Var {
	op := Begin("Rows", x)
	shape := slices.Clone(x.Value().Shape())
	for i, r := range rows {
		if uint(r) >= uint(shape[0]) {
			panic(&tensor.ShapeError{Op: "grad.Rows", Shapes: [][]int{x.Shape()}, Why: fmt.Sprintf("index %d asks for row %d", i, r)})
		}
	}
	shape[0] = len(rows)
	y := op.New(shape...)
	tensor.GatherRows(&y.val, &x.val, rows)
	return op.Record(y, func(dy *tensor.Dense) { tensor.ScatterAddRows(x.Grad(), dy, rows) })
}

// Concat joins arrays along the last axis; all other axes must agree.
func Concat(xs ...*Var) *Var {
	op := Begin("Concat", xs...)
	if len(xs) == 0 {
		panic(&TapeError{Op: "Concat", Why: "nothing to join"})
	}
	shape := slices.Clone(xs[0].Value().Shape())
	last := len(shape) - 1
	shape[last] = 0
	for _, x := range xs {
		if sh := x.Value().Shape(); len(sh) != len(shape) || !slices.Equal(sh[:last], shape[:last]) {
			panic(tensor.Mismatch("grad.Concat", xs[0], x))
		}
		shape[last] += x.Dim(last)
	}
	y := op.New(shape...)
	xs = slices.Clone(xs)
	parts := make([]*tensor.Dense, len(xs))
	for i, x := range xs {
		parts[i] = &x.val
	}
	tensor.Concat(&y.val, last, parts...)
	return op.Record(y, func(dy *tensor.Dense) {
		eachColumns(dy, xs, func(x *Var, part []tensor.Float, i int) {
			if dx := x.Grad(); dx != nil {
				addTo(dx.Data[i:i+len(part)], part)
			}
		})
	})
}

// eachColumns calls f with every row of every x: with its part of y's row, and
// with the number of its first element in x.
func eachColumns(y *tensor.Dense, xs []*Var, f func(x *Var, part []tensor.Float, i int)) {
	w, at := y.Dim(-1), 0
	for _, x := range xs {
		d := x.Dim(-1)
		for i := range leading(y.Shape()) {
			f(x, y.Data[i*w+at:i*w+at+d], i*d)
		}
		at += d
	}
}

// Split cuts x along the last axis into parts of the given widths.
func (x *Var) Split(widths ...int) []*Var {
	ys, at := make([]*Var, len(widths)), 0
	for i, w := range widths {
		ys[i] = x.Columns(at, at+w)
		at += w
	}
	if at != x.Dim(-1) {
		panic(&tensor.ShapeError{Op: "grad.Split", Shapes: [][]int{x.Shape(), slices.Clone(widths)}, Why: "the widths do not add up to the last axis"})
	}
	return ys
}

// Columns returns elements lo to hi, without hi, of the last axis.
func (x *Var) Columns(lo, hi int) *Var {
	op := Begin("Columns", x)
	shape := slices.Clone(x.Value().Shape())
	w := shape[len(shape)-1]
	if lo < 0 || hi < lo || hi > w {
		panic(&tensor.ShapeError{Op: "grad.Columns", Shapes: [][]int{x.Shape(), {lo, hi}}, Why: "no such columns"})
	}
	d := hi - lo
	shape[len(shape)-1] = d
	y := op.New(shape...)
	n := leading(shape)
	for i := range n {
		copy(y.val.Data[i*d:i*d+d], x.val.Data[i*w+lo:i*w+hi])
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		for i := range n {
			addTo(dx[i*w+lo:i*w+hi], dy.Data[i*d:i*d+d])
		}
	})
}

// addTo is dst += src.
func addTo(dst, src []tensor.Float) { simd.Axpy(dst, 1, src) }
