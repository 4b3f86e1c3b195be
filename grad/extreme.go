package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// MaxAxis returns the largest elements along one axis, which is taken away as
// SumAxis does; [Var.InsertAxis] puts it back. The gradient goes to the first of
// equal ones. NaN counts as the largest; of an empty axis the maximum is −Inf.
func (x *Var) MaxAxis(axis int) *Var {
	op := Begin("MaxAxis", x)
	i, s := x.axis("MaxAxis", axis)
	shape := slices.Delete(slices.Clone(x.val.Shape()), i, i+1)
	if len(shape) == 0 {
		shape = []int{1}
	}
	y := op.New(shape...)
	places := op.Ints(len(y.val.Data))
	if !op.Dry(0) {
		tensor.MaxAxis(&y.val, &x.val, i)
		if s.n > 0 {
			tensor.ArgMax(places, &x.val, i)
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		if s.n == 0 {
			return
		}
		dx := x.Grad().Data
		for k, p := range places {
			dx[(k/s.inner*s.n+int(p))*s.inner+k%s.inner] += dy.Data[k]
		}
	})
}

// MinAxis returns the smallest elements along one axis, as [Var.MaxAxis] does the
// largest; of an empty axis +Inf.
func (x *Var) MinAxis(axis int) *Var { return x.Neg().MaxAxis(axis).Neg() }

// SumAxes sums along several axes, which are taken away.
func (x *Var) SumAxes(axes ...int) *Var {
	for _, i := range x.descending("SumAxes", axes) {
		x = x.SumAxis(i)
	}
	return x
}

// MeanAxes takes the mean along several axes, which are taken away; over no
// elements it is zero.
func (x *Var) MeanAxes(axes ...int) *Var {
	for _, i := range x.descending("MeanAxes", axes) {
		x = x.MeanAxis(i)
	}
	return x
}

// descending returns the numbers of axes, the last first, without doubles.
func (x *Var) descending(op string, axes []int) []int {
	is := make([]int, len(axes))
	for k, a := range axes {
		is[k], _ = x.axis(op, a)
	}
	slices.Sort(is)
	slices.Reverse(is)
	return slices.Compact(is)
}

// TopK returns the k largest elements along the last axis, the largest first, and
// their places there, row after row. Of equal ones the first comes first; NaN
// counts as the largest. The places are valid until the tape's next Reset.
func (x *Var) TopK(k int) (values *Var, places []int32) {
	op := Begin("TopK", x)
	shape := slices.Clone(x.Value().Shape())
	d := x.Dim(-1)
	if k < 0 || k > d {
		panic(&tensor.ShapeError{Op: "grad.TopK", Shapes: [][]int{shape, {k}}, Why: "the last axis has fewer elements"})
	}
	shape[len(shape)-1] = k
	y := op.New(shape...)
	places = op.Ints(len(y.val.Data))
	if !op.Dry(0) {
		tensor.TopK(&y.val, places, &x.val)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		for i, p := range places {
			dx[i/k*d+int(p)] += dy.Data[i]
		}
	}), places
}
