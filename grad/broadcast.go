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
	same := slices.Equal(x.Value().Shape(), y.Value().Shape())
	if same && len(x.val.Data) <= small {
		return op.pairs(f, x, y)
	}
	var z *Var
	if same {
		z = op.freshLike(x)
	} else {
		z = op.Fresh(op.broadcast(&axes{}, x, y)...)
	}
	if !op.Dry(0) {
		tensor.Combine(&z.val, &x.val, &y.val, f)
	}
	n := Notes[binaryNotes](op)
	*n = binaryNotes{f: f, x: x, y: y}
	return op.RecordBy(z, n)
}

// axes is room for a shape.
type axes [tensor.MaxAxes]int

// broadcast writes the shape that x and y share to room.
func (op Op) broadcast(room *axes, x, y *Var) []int {
	shape, ok := tensor.AppendBroadcast(room[:0], x.val.Shape(), y.val.Shape())
	if !ok {
		panic(tensor.Mismatch("grad."+op.name, x, y))
	}
	return shape
}

// binaryNotes is the pullback of a function of x and y, which are few elements
// of one shape or not.
type binaryNotes struct {
	f    simd.Binary
	x, y *Var
	few  bool
}

// Pull adds to the gradients of x and y.
func (n *binaryNotes) Pull(dz *tensor.Dense) {
	x, y := n.x, n.y
	switch dx := x.Grad(); {
	case dx == nil:
	case n.few:
		n.f.BackwardX(dx.Data, dz.Data, x.val.Data, y.val.Data, 1, 1)
	default:
		tensor.CombineGradX(dx, dz, &x.val, &y.val, n.f)
	}
	switch dy := y.Grad(); {
	case dy == nil:
	case n.few:
		n.f.BackwardY(dy.Data, dz.Data, x.val.Data, y.val.Data, 1, 1)
	default:
		tensor.CombineGradY(dy, dz, &x.val, &y.val, n.f)
	}
}

// pairs is binary for few elements of one shape.
func (op Op) pairs(f simd.Binary, x, y *Var) *Var {
	z := op.freshLike(x)
	if !op.Dry(0) {
		f.Forward(z.val.Data, x.val.Data, y.val.Data, 1, 1)
	}
	n := Notes[binaryNotes](op)
	*n = binaryNotes{f, x, y, true}
	return op.RecordBy(z, n)
}
