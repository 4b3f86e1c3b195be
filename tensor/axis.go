package tensor

import "slices"

// along is an array seen along one axis: outer blocks of n runs of inner
// elements.
type along struct{ outer, n, inner int }

// axisOf returns the number of an axis of x; a negative one counts from the
// last.
func axisOf(op string, x *Dense, axis int) int {
	i := axis
	if i < 0 {
		i += x.axes
	}
	if i < 0 || i >= x.axes {
		panic(&ShapeError{Op: "tensor." + op, Shapes: [][]int{slices.Clone(x.Shape()), {axis}}, Why: "no such axis"})
	}
	return i
}

// alongAxis returns x seen along axis i, which axisOf has given.
func alongAxis(x *Dense, i int) along {
	a := along{1, x.dims[i], 1}
	for _, s := range x.dims[:i] {
		a.outer *= s
	}
	for _, s := range x.dims[i+1 : x.axes] {
		a.inner *= s
	}
	return a
}

// alongLast returns x seen along its last axis.
func alongLast(x *Dense) along { return alongAxis(x, x.axes-1) }

// sameShape panics unless dst has x's shape.
func sameShape(op string, dst, x *Dense) {
	if !slices.Equal(dst.Shape(), x.Shape()) {
		panic(Mismatch("tensor."+op, x, dst))
	}
}
