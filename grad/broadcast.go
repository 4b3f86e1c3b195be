package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Add returns x + y under NumPy's broadcasting: shapes are aligned at the last
// axis, and a length of 1 stretches.
func (x *Var) Add(y *Var) *Var { return x.binary(simd.Add, y) }

// Sub returns x − y, with broadcasting.
func (x *Var) Sub(y *Var) *Var { return x.binary(simd.Sub, y) }

// Mul returns the product of elements, with broadcasting.
func (x *Var) Mul(y *Var) *Var { return x.binary(simd.Mul, y) }

// Div returns the quotient of elements, with broadcasting.
func (x *Var) Div(y *Var) *Var { return x.binary(simd.Div, y) }

// Min returns the smaller of two elements, with broadcasting. Where they tie the
// gradient goes to x.
func (x *Var) Min(y *Var) *Var { return x.binary(simd.Min, y) }

// Max returns the larger of two elements, with broadcasting. Where they tie the
// gradient goes to x.
func (x *Var) Max(y *Var) *Var { return x.binary(simd.Max, y) }

// small is how many elements an operation takes by itself: to share them out
// would cost more than they do.
const small = 1 << 10

func (x *Var) binary(f simd.Binary, y *Var) *Var {
	op := Begin(f.String(), x, y)
	if len(x.Value().Data) <= small && slices.Equal(x.val.Shape(), y.Value().Shape()) {
		return op.pairs(f, x, y)
	}
	shape, ok := tensor.Broadcast(x.Value().Shape(), y.Value().Shape())
	if !ok {
		panic(tensor.Mismatch("grad."+f.String(), x, y))
	}
	z := op.Fresh(shape...)
	if !op.Dry(0) {
		tensor.Combine(&z.val, &x.val, &y.val, f)
	}
	return op.Record(z, func(dz *tensor.Dense) {
		if dx := x.Grad(); dx != nil {
			tensor.CombineGradX(dx, dz, &x.val, &y.val, f)
		}
		if dy := y.Grad(); dy != nil {
			tensor.CombineGradY(dy, dz, &x.val, &y.val, f)
		}
	})
}

// pairs is binary for few elements of one shape.
func (op Op) pairs(f simd.Binary, x, y *Var) *Var {
	z := op.Fresh(x.val.Shape()...)
	if !op.Dry(0) {
		f.Forward(z.val.Data, x.val.Data, y.val.Data, 1, 1)
	}
	return op.Record(z, func(dz *tensor.Dense) {
		if dx := x.Grad(); dx != nil {
			f.BackwardX(dx.Data, dz.Data, x.val.Data, y.val.Data, 1, 1)
		}
		if dy := y.Grad(); dy != nil {
			f.BackwardY(dy.Data, dz.Data, x.val.Data, y.val.Data, 1, 1)
		}
	})
}
