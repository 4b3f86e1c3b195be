package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// unary records y = f(x), element by element.
func (x *Var) unary(f vec.Unary, c tensor.Float) *Var {
	if y := x.actAlong(f, c); y != nil {
		return y
	}
	if f == vec.ReLU {
		if y := x.reluAlong(); y != nil {
			return y
		}
	}
	op := Begin(f.String(), x)
	y := op.freshLike(x)
	switch {
	case op.dry(0):
	case len(y.val.Data) <= small:
		f.Forward(y.val.Data, x.val.Data, c)
	default:
		tensor.Apply(&y.val, &x.val, tensor.Unary(f), c)
	}
	return op.recordBy(y, note(op, unaryNotes{x, x, y, kernel{f, c}}))
}

// unaryNotes is the pullback of a result whose slope by of is that of y = f(x).
type unaryNotes struct {
	of, x, y *Var
	k        kernel
}

// Pull adds to x's gradient.
func (n *unaryNotes) Pull(dy *tensor.Dense) {
	if dx, fresh := n.of.freshGrad(); fresh {
		setUnary(dx, dy, n.x, n.y, n.k)
	} else {
		pullUnary(dx, dy, n.x, n.y, n.k)
	}
}

// kernel is a function of one element with its constant.
type kernel struct {
	f vec.Unary
	c tensor.Float
}

// pullUnary adds to dx the gradient of y = f(x).
func pullUnary(dx, dy *tensor.Dense, x, y *Var, k kernel) {
	if len(dy.Data) <= small {
		k.f.Backward(dx.Data, dy.Data, x.val.Data, y.val.Data, k.c)
		return
	}
	tensor.ApplyGrad(dx, dy, &x.val, &y.val, tensor.Unary(k.f), k.c)
}

// setUnary is pullUnary that sets dx, whatever it held.
func setUnary(dx, dy *tensor.Dense, x, y *Var, k kernel) {
	if len(dy.Data) <= small {
		k.f.SetBackward(dx.Data, dy.Data, x.val.Data, y.val.Data, k.c)
		return
	}
	tensor.SetGrad(dx, dy, &x.val, &y.val, tensor.Unary(k.f), k.c)
}

// Scale returns c·x.
func (x *Var) Scale(c float64) *Var { return x.unary(vec.Scale, tensor.Float(c)) }

// Shift returns x + c.
func (x *Var) Shift(c float64) *Var { return x.unary(vec.Shift, tensor.Float(c)) }

// OneMinus returns 1 − x.
func (x *Var) OneMinus() *Var {
	op := Begin("OneMinus", x)
	y := op.freshLike(x)
	if !op.dry(0) {
		tensor.Apply(&y.val, &x.val, tensor.Unary(vec.Neg), 0)
		tensor.Apply(&y.val, &y.val, tensor.Unary(vec.Shift), 1)
	}
	return op.recordBy(y, note(op, unaryNotes{x, x, y, kernel{vec.Neg, 0}}))
}

// Neg returns −x.
func (x *Var) Neg() *Var { return x.unary(vec.Neg, 0) }

// ReLU returns max(x, 0).
func (x *Var) ReLU() *Var { return x.unary(vec.ReLU, 0) }

// LeakyReLU returns x where it is positive, else slope·x.
func (x *Var) LeakyReLU(slope float64) *Var { return x.unary(vec.LeakyReLU, tensor.Float(slope)) }

// ELU returns x where it is positive, else eˣ − 1.
func (x *Var) ELU() *Var { return x.unary(vec.ELU, 1) }

// Sigmoid returns 1/(1 + e⁻ˣ).
func (x *Var) Sigmoid() *Var { return x.unary(vec.Sigmoid, 0) }

// Tanh returns the hyperbolic tangent of x.
func (x *Var) Tanh() *Var { return x.unary(vec.Tanh, 0) }

// Softplus returns log(1 + eˣ).
func (x *Var) Softplus() *Var { return x.unary(vec.Softplus, 0) }

// SiLU returns x·sigmoid(x).
func (x *Var) SiLU() *Var { return x.unary(vec.SiLU, 0) }

// GELU returns x·Φ(x), where Φ is the distribution function of the normal
// distribution.
func (x *Var) GELU() *Var { return x.unary(vec.GELU, 0) }

// GELUTanh returns the form of GELU by tanh:
//
//	x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³)))
func (x *Var) GELUTanh() *Var { return x.unary(vec.GELUTanh, 0) }

// SELU returns λ·x where x is positive, else λ·α·(eˣ − 1), with λ = 1.0507… and
// α = 1.6732….
func (x *Var) SELU() *Var { return x.unary(vec.SELU, 0) }

// Exp returns eˣ.
func (x *Var) Exp() *Var { return x.unary(vec.Exp, 0) }

// Log returns the natural logarithm of x.
func (x *Var) Log() *Var { return x.unary(vec.Log, 0) }

// Sqrt returns the square root of x. Its slope at 0 is infinite.
func (x *Var) Sqrt() *Var { return x.unary(vec.Sqrt, 0) }

// Abs returns |x|, with the slope 0 at 0.
func (x *Var) Abs() *Var { return x.unary(vec.Abs, 0) }

// Sin returns the sine of x, an angle in radians.
func (x *Var) Sin() *Var { return x.unary(vec.Sin, 0) }

// Cos returns the cosine of x, an angle in radians.
func (x *Var) Cos() *Var { return x.unary(vec.Cos, 0) }

// Square returns x².
func (x *Var) Square() *Var { return x.unary(vec.Square, 0) }

// Reciprocal returns 1/x.
func (x *Var) Reciprocal() *Var { return x.unary(vec.Reciprocal, 0) }

// Activation names a pointwise function. It is what layers have as a field; its
// text form is its name.
type Activation string

// The activations. The zero value is the identity.
const (
	Identity Activation = ""
	ReLU     Activation = "relu"
	ELU      Activation = "elu"
	SiLU     Activation = "silu"
	Sigmoid  Activation = "sigmoid"
	Tanh     Activation = "tanh"
	Softplus Activation = "softplus"
	GELU     Activation = "gelu"
	GELUTanh Activation = "gelu_tanh"
	SELU     Activation = "selu"
)

// Activate returns a(x). It panics with a [*TapeError] if there is no such
// activation.
func (x *Var) Activate(a Activation) *Var {
	switch a {
	case Identity:
		return x
	case ReLU:
		return x.ReLU()
	case ELU:
		return x.ELU()
	case SiLU:
		return x.SiLU()
	case Sigmoid:
		return x.Sigmoid()
	case Tanh:
		return x.Tanh()
	case Softplus:
		return x.Softplus()
	case GELU:
		return x.GELU()
	case GELUTanh:
		return x.GELUTanh()
	case SELU:
		return x.SELU()
	}
	panic(&TapeError{Op: "Activate", Why: "no activation is called " + string(a)})
}

// ELUAlpha returns x where it is positive, else alpha·(eˣ − 1).
func (x *Var) ELUAlpha(alpha float64) *Var { return x.unary(vec.ELU, tensor.Float(alpha)) }

// LogSigmoid returns log(1/(1 + e⁻ˣ)).
func (x *Var) LogSigmoid() *Var {
	op := Begin("LogSigmoid", x)
	minus, soft, y := op.freshLike(x), op.freshLike(x), op.freshLike(x)
	if !op.dry(0) {
		tensor.Apply(&minus.val, &x.val, tensor.Unary(vec.Neg), 0)
		tensor.Apply(&soft.val, &minus.val, tensor.Unary(vec.Softplus), 0)
		tensor.Apply(&y.val, &soft.val, tensor.Unary(vec.Neg), 0)
	}
	return op.recordBy(y, note(op, unaryNotes{x, minus, soft, kernel{vec.Softplus, 0}})) // two signs that cancel
}

// Mish returns x·tanh(log(1 + eˣ)).
func (x *Var) Mish() *Var { return x.Mul(x.Softplus().Tanh()) }

// Maxout returns the largest of each k elements that follow each other on the
// last axis, whose length is a multiple of k.
func (x *Var) Maxout(k int) *Var {
	var room extents
	shape := append(room[:0], x.Value().Shape()...)
	last := len(shape) - 1
	if k < 1 || shape[last]%k != 0 || len(shape) == tensor.MaxAxes {
		panic(&tensor.ShapeError{Op: "grad.Maxout", Shapes: [][]int{slices.Clone(shape), {k}}, Why: "the last axis is no multiple of the pieces, or an axis too many"})
	}
	shape[last] /= k
	return x.Reshape(append(shape, k)...).MaxAxis(-1)
}

// fromResult returns the kernel of an activation whose slope the result alone
// tells, so that the argument need not be kept.
func (a Activation) fromResult() (u vec.Unary, ok bool) {
	switch a {
	case ReLU:
		return vec.ReLU, true
	case ELU:
		return vec.ELU, true
	case Sigmoid:
		return vec.Sigmoid, true
	case Tanh:
		return vec.Tanh, true
	}
	return 0, false
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
