package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Where returns x where c is not 0 and y where it is, with broadcasting. c has no
// gradient. An element that is not chosen does no harm, be it NaN.
func Where(c, x, y *Var) *Var {
	Begin("Where", c, x, y)
	shape, ok := tensor.Broadcast(x.Value().Shape(), y.Value().Shape())
	if ok {
		shape, ok = tensor.Broadcast(shape, c.Value().Shape())
	}
	if !ok {
		panic(tensor.Mismatch("grad.Where", c, x, y))
	}
	c, x, y = c.fit(shape), x.fit(shape), y.fit(shape)
	op := Begin("Where", x, y, c)
	z, k := op.Fresh(shape...), dense.Where{If: c.val.Data, X: x.val.Data, Y: y.val.Data}
	if !op.dry(0) {
		k.Forward(z.val.Data)
	}
	return op.Record(z, func(dz *tensor.Dense) { k.Backward(gradOf(x), gradOf(y), dz.Data) })
}

// fit is Expand where it is needed.
func (x *Var) fit(shape []int) *Var {
	if slices.Equal(x.Shape(), shape) {
		return x
	}
	return x.Expand(shape...)
}

// Clamp moves the elements of x into [lo, hi]; NaN stays. The slope is 1 at the
// ends.
func (x *Var) Clamp(lo, hi float64) *Var {
	op := Begin("Clamp", x)
	y, k := op.freshLike(x), dense.Clamp{Least: tensor.Float(lo), Most: tensor.Float(hi)}
	if !op.dry(0) {
		k.Forward(y.val.Data, x.val.Data)
	}
	return op.Record(y, func(dy *tensor.Dense) { k.Backward(x.Grad().Data, x.val.Data, dy.Data) })
}

// Pow returns xᵖ, as [math.Pow] defines it: of a negative x NaN, unless p is
// whole.
func (x *Var) Pow(p float64) *Var {
	op := Begin("Pow", x)
	y, k := op.freshLike(x), dense.Pow(p)
	if !op.dry(0) {
		k.Forward(y.val.Data, x.val.Data)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		if p != 0 {
			k.Backward(x.Grad().Data, x.val.Data, dy.Data)
		}
	})
}
