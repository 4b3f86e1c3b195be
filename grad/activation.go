package grad

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GELU returns x·Φ(x), Φ being the distribution function of a standard normal
// number.
func (x *Var) GELU() *Var {
	op := Begin("GELU", x)
	y := op.New(x.Value().Shape()...)
	if !op.Dry(0) {
		for i, v := range x.val.Data {
			f := float64(v)
			y.val.Data[i] = tensor.Float(f * phi(f))
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		for i, g := range dy.Data {
			f := float64(x.val.Data[i])
			density := math.Exp(-f*f/2) / math.Sqrt(2*math.Pi)
			dx[i] += g * tensor.Float(phi(f)+f*density)
		}
	})
}

// phi is the distribution function of a standard normal number.
func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// The curve that stands in for Φ in GELUTanh: (1 + tanh(a·(x + b·x³)))/2.
const (
	geluA = 0.7978845608028654 // √(2/π)
	geluB = 0.044715
)

// GELUTanh is [Var.GELU] with (1 + tanh(√(2/π)·(x + 0.044715·x³)))/2 for Φ, as
// BERT and GPT-2 have it.
func (x *Var) GELUTanh() *Var {
	op := Begin("GELUTanh", x)
	y := op.New(x.Value().Shape()...)
	if !op.Dry(0) {
		for i, v := range x.val.Data {
			f := float64(v)
			y.val.Data[i] = tensor.Float(f / 2 * (1 + math.Tanh(geluA*(f+geluB*f*f*f))))
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad().Data
		for i, g := range dy.Data {
			f := float64(x.val.Data[i])
			t := math.Tanh(geluA * (f + geluB*f*f*f))
			slope := (1+t)/2 + f/2*(1-t*t)*geluA*(1+3*geluB*f*f)
			dx[i] += g * tensor.Float(slope)
		}
	})
}

// SELU's constants keep mean 0 and variance 1 of normal numbers.
const (
	seluScale = 1.0507009873554805
	seluAlpha = 1.6732632423543772
)

// SELU returns 1.0507·x where x is positive, else 1.0507·1.6733·(eˣ − 1).
func (x *Var) SELU() *Var { return x.ELUAlpha(seluAlpha).Scale(seluScale) }

// ELUAlpha returns x where it is positive, else alpha·(eˣ − 1).
func (x *Var) ELUAlpha(alpha float64) *Var { return x.unary(simd.ELU, tensor.Float(alpha)) }

// LogSigmoid returns log(1/(1 + e⁻ˣ)).
func (x *Var) LogSigmoid() *Var { return x.Neg().Softplus().Neg() }

// Mish returns x·tanh(log(1 + eˣ)).
func (x *Var) Mish() *Var { return x.Mul(x.Softplus().Tanh()) }

// Maxout returns the largest of each k elements that follow each other on the
// last axis, whose length is a multiple of k.
func (x *Var) Maxout(k int) *Var {
	shape := append([]int(nil), x.Value().Shape()...)
	last := len(shape) - 1
	if k < 1 || shape[last]%k != 0 || len(shape) == tensor.MaxAxes {
		panic(&tensor.ShapeError{Op: "grad.Maxout", Shapes: [][]int{shape, {k}}, Why: "the last axis is no multiple of the pieces, or an axis too many"})
	}
	shape[last] /= k
	return x.Reshape(append(shape, k)...).MaxAxis(-1)
}
