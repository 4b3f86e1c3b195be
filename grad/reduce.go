package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Dot returns the scalar products of x and y along the last axis, which is kept
// with length 1. y broadcasts over the leading axes: its shape is x's, or the
// last few axes of it, or has ones.
func (x *Var) Dot(y *Var) *Var {
	op := Begin("Dot", x, y)
	shape, ok := tensor.Broadcast(x.Value().Shape(), y.Value().Shape())
	d := x.Dim(-1)
	if !ok || y.Dim(-1) != d {
		panic(tensor.Mismatch("grad.Dot", x, y))
	}
	shape[len(shape)-1] = 1
	z := op.New(shape...)
	if perHead(x, y) {
		return op.dotHeads(x, y, z)
	}
	p := tensor.Pair(lastOne(x.val.Shape()), lastOne(y.val.Shape()), shape)
	each := func(f func(z, x, y int)) {
		if d == 0 {
			return
		}
		p.Rows(func(z0, x0, y0 int) {
			for i := range p.N {
				f(z0+i, (x0+i*p.SX)*d, (y0+i*p.SY)*d)
			}
		})
	}
	if !op.Dry(0) {
		each(func(k, i, j int) { z.val.Data[k] = simd.Dot(x.val.Data[i:i+d], y.val.Data[j:j+d]) })
	}
	return op.Record(z, func(dz *tensor.Dense) {
		dx, dy := x.Grad(), y.Grad()
		each(func(k, i, j int) {
			g := dz.Data[k]
			if dx != nil {
				simd.Axpy(dx.Data[i:i+d], g, y.val.Data[j:j+d])
			}
			if dy != nil {
				simd.Axpy(dy.Data[j:j+d], g, x.val.Data[i:i+d])
			}
		})
	})
}

func lastOne(shape []int) []int {
	s := slices.Clone(shape)
	s[len(s)-1] = 1
	return s
}

// SumAxis sums along one axis, which is taken away; of the only axis it leaves
// one element. A negative axis counts from the last.
func (x *Var) SumAxis(axis int) *Var {
	op := Begin("SumAxis", x)
	shape := x.Value().Shape()
	if axis < 0 {
		axis += len(shape)
	}
	if axis < 0 || axis >= len(shape) {
		panic(&tensor.ShapeError{Op: "grad.SumAxis", Shapes: [][]int{x.Shape(), {axis}}, Why: "no such axis"})
	}
	out := slices.Delete(slices.Clone(shape), axis, axis+1)
	if len(out) == 0 {
		out = []int{1}
	}
	y := op.New(out...)
	if !op.Dry(0) {
		tensor.SumAxis(&y.val, &x.val, axis)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx, kept := x.Grad(), slices.Clone(x.val.Shape())
		kept[axis] = 1
		tensor.Add(dx, dx, dy.Reshape(kept...))
	})
}

// MeanAxis is SumAxis divided by the length of the axis; of an empty axis zero.
func (x *Var) MeanAxis(axis int) *Var {
	if axis < 0 {
		axis += len(x.Shape())
	}
	y := x.SumAxis(axis)
	return y.Scale(1 / float64(max(1, x.Dim(axis))))
}

// Sum returns the sum of all elements, added in float64.
func (x *Var) Sum() *Var {
	op := Begin("Sum", x)
	y := op.New(1)
	if !op.Dry(0) {
		y.val.Data[0] = tensor.Float(tensor.Sum64(x.Value()))
	}
	return op.Record(y, func(dy *tensor.Dense) { tensor.Add(x.Grad(), x.Grad(), dy) })
}

// Mean returns the mean of all elements; of none zero.
func (x *Var) Mean() *Var {
	return x.Sum().Scale(1 / float64(max(1, len(x.Value().Data))))
}

// Roll returns x with the last axis rolled: element i moves to i+shift, and
// what falls off one end enters at the other.
func (x *Var) Roll(shift int) *Var {
	op := Begin("Roll", x)
	y := op.newLike(x)
	if !op.Dry(0) {
		tensor.Roll(&y.val, &x.val, -1, shift)
	}
	return op.Record(y, func(dy *tensor.Dense) { tensor.RollAdd(x.Grad(), dy, -1, -shift) })
}
