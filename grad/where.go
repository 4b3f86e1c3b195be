package grad

import (
	"math"
	"slices"

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
	z := op.Fresh(shape...)
	if !op.Dry(0) {
		for i, v := range c.val.Data {
			if v != 0 {
				z.val.Data[i] = x.val.Data[i]
			} else {
				z.val.Data[i] = y.val.Data[i]
			}
		}
	}
	return op.Record(z, func(dz *tensor.Dense) {
		dx, dy := x.Grad(), y.Grad()
		for i, v := range c.val.Data {
			if v != 0 && dx != nil {
				dx.Data[i] += dz.Data[i]
			}
			if v == 0 && dy != nil {
				dy.Data[i] += dz.Data[i]
			}
		}
	})
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
	y := op.freshLike(x)
	least, most := tensor.Float(lo), tensor.Float(hi)
	if !op.Dry(0) {
		for i, v := range x.val.Data {
			y.val.Data[i] = min(max(v, least), most)
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		for i, v := range x.val.Data {
			if !(v < least || v > most) {
				dx[i] += dy.Data[i]
			}
		}
	})
}

// Pow returns xᵖ, as [math.Pow] defines it: of a negative x NaN, unless p is
// whole.
func (x *Var) Pow(p float64) *Var {
	op := Begin("Pow", x)
	y := op.freshLike(x)
	if !op.Dry(0) {
		for i, v := range x.val.Data {
			y.val.Data[i] = tensor.Float(math.Pow(float64(v), p))
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		if p == 0 {
			return
		}
		dx := x.Grad().Data
		for i, v := range x.val.Data {
			dx[i] += dy.Data[i] * tensor.Float(p*math.Pow(float64(v), p-1))
		}
	})
}
