package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Add returns x + y under NumPy's broadcasting: shapes are aligned at the last
// axis, and a length of 1 stretches.
func (x *Var) Add(y *Var) *Var { return x.binary(vec.Add, y) }

// Sub returns x − y, with broadcasting.
func (x *Var) Sub(y *Var) *Var { return x.binary(vec.Sub, y) }

// Mul returns the product of elements, with broadcasting.
func (x *Var) Mul(y *Var) *Var { return x.binary(vec.Mul, y) }

// Div returns the quotient of elements, with broadcasting.
func (x *Var) Div(y *Var) *Var { return x.binary(vec.Div, y) }

// Min returns the smaller of two elements, with broadcasting. Where they tie the
// gradient goes to x.
func (x *Var) Min(y *Var) *Var { return x.binary(vec.Min, y) }

// Max returns the larger of two elements, with broadcasting. Where they tie the
// gradient goes to x.
func (x *Var) Max(y *Var) *Var { return x.binary(vec.Max, y) }

// small is how many elements an operation takes by itself: to share them out
// would cost more than they do.
const small = 1 << 10

func (x *Var) binary(f vec.Binary, y *Var) *Var {
	if f == vec.Add && y != nil && (x.sum != noSummand || y.sum != noSummand) {
		if z := x.addAlong(y); z != nil {
			return z
		}
	}
	if f == vec.Add {
		if z := x.sumAlong(y); z != nil {
			return z
		}
	}
	op := Begin(f.String(), x, y)
	n := notes[binaryNotes](op)
	*n = binaryNotes{f: f, x: x, y: y, few: fewRows(x.Value(), y.Value())}
	if f == vec.Add && slices.Equal(x.val.Shape(), y.val.Shape()) {
		n.sum = true
	}
	if n.few {
		z := op.freshLike(x)
		if !op.dry(0) {
			n.forward(z.val.Data)
		}
		return op.recordBy(z, n)
	}
	var z *Var
	if slices.Equal(x.val.Shape(), y.val.Shape()) {
		z = op.freshLike(x)
	} else {
		z = op.Fresh(op.broadcast(&extents{}, x, y)...)
	}
	if !op.dry(0) {
		tensor.Combine(&z.val, &x.val, &y.val, tensor.Binary(f))
	}
	if n.sum {
		op.pullsLast(x)
	}
	if n.sum && distinct(x, y) {
		n.z = z
		op.mayHandOver(z, x)
	}
	return op.recordBy(z, n)
}

// fewRows reports whether x is few elements and y as many, or a row of them.
func fewRows(x, y *tensor.Dense) bool {
	n, m := len(x.Data), len(y.Data)
	at := x.Axes() - y.Axes()
	return n <= small && at >= 0 && slices.Equal(x.Shape()[at:], y.Shape()) && (m > 1 || n <= 1)
}

// extents is room for a shape.
type extents [tensor.MaxAxes]int

// broadcast writes the shape that x and y share to room.
func (op Op) broadcast(room *extents, x, y *Var) []int {
	shape, ok := tensor.AppendBroadcast(room[:0], x.val.Shape(), y.val.Shape())
	if !ok {
		panic(tensor.Mismatch("grad."+op.name, x, y))
	}
	return shape
}

// binaryNotes is the pullback of a function of x and y, of which few are taken
// row by row.
type binaryNotes struct {
	f    vec.Binary
	x, y *Var
	few  bool
	sum  bool // of two that are not stretched
	z    *Var // such a sum, whose gradient may become that of x; nil: it may not
}

// forward sets z to the function of few.
func (n *binaryNotes) forward(z []tensor.Float) {
	if n.x == nil { // a Reset has taken the notes
		panic(shared("an operation"))
	}
	n.f.ForwardRows(z, n.x.val.Data, n.y.val.Data)
}

// pullY adds to the gradient of y of few.
func (n *binaryNotes) pullY(dy, dz []tensor.Float) {
	x, y := n.x.val.Data, n.y.val.Data
	for w := len(y); len(dz) > 0; x, dz = x[w:], dz[w:] {
		n.f.BackwardY(dy, dz[:w], x[:w], y, 1, 1)
	}
}

// pullX adds to the gradient of x of few.
func (n *binaryNotes) pullX(dx, dz []tensor.Float) {
	x, y := n.x.val.Data, n.y.val.Data
	for w := len(y); len(dz) > 0; x, dx, dz = x[w:], dx[w:], dz[w:] {
		n.f.BackwardX(dx[:w], dz[:w], x[:w], y, 1, 1)
	}
}

// Pull adds to the gradients of x and y.
func (n *binaryNotes) Pull(dz *tensor.Dense) {
	x, y := n.x, n.y
	if x == nil { // as in forward
		panic(shared("Backward"))
	}
	if n.sum && !n.few {
		n.pullSum(dz)
		return
	}
	switch dx := x.Grad(); {
	case dx == nil:
	case n.few:
		n.pullX(dx.Data, dz.Data)
	default:
		tensor.CombineGradX(dx, dz, &x.val, &y.val, tensor.Binary(n.f))
	}
	switch dy := y.Grad(); {
	case dy == nil:
	case n.few:
		n.pullY(dy.Data, dz.Data)
	default:
		tensor.CombineGradY(dy, dz, &x.val, &y.val, tensor.Binary(n.f))
	}
}

// pullSum is Pull for a sum: both gradients are that of the result, whose memory one of
// them may take.
func (n *binaryNotes) pullSum(dz *tensor.Dense) {
	pass := func(x *Var) {
		switch dx, fresh := x.freshGrad(); {
		case dx == nil:
		case fresh:
			tensor.SetGrad(dx, dz, dz, dz, tensor.Unary(vec.Shift), 0)
		default:
			tensor.CombineGradX(dx, dz, &n.x.val, &n.y.val, tensor.Binary(n.f))
		}
	}
	pass(n.y)
	if n.z == nil || !n.z.handsOver(n.x) || !n.z.handOver(n.x) {
		pass(n.x)
	}
}
