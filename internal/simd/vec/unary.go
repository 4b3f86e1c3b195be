package vec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Unary is a function of one element, applied to slices. Some take a constant.
type Unary uint8

// The functions. Where a slope is not defined, at 0, Backward takes the one of
// the negative side, and 0 for ReLU, Abs and Sign. NaN gives NaN, and an
// infinity the limit; that of SiLU and GELU at −Inf is zero. Exp is within 2e-7
// of the true value, relative to it, and Tanh within 3.5e-7 and never beyond 1;
// denormal results, also of the others, are right to about the last bit. Pow is
// math.Pow: of a negative x NaN, unless c is whole.
const (
	Scale      Unary = iota // c·x
	Shift                   // x + c
	Neg                     // −x
	ReLU                    // max(x, 0)
	LeakyReLU               // x if x > 0, else c·x
	ELU                     // x if x > 0, else c·(eˣ − 1)
	Sigmoid                 // 1/(1 + e⁻ˣ)
	Tanh                    // tanh x
	Softplus                // log(1 + eˣ)
	SiLU                    // x·sigmoid(x)
	Exp                     // eˣ
	Log                     // log x
	Sqrt                    // √x
	Abs                     // |x|
	Sign                    // −1, 0 or 1
	Square                  // x²
	Reciprocal              // 1/x
	GELU                    // x·Φ(x), of the normal distribution
	GELUTanh                // x·sigmoid(2√(2/π)·(x + 0.044715·x³)), which is near GELU
	SELU                    // λ·x if x > 0, else λ·α·(eˣ − 1)
	Sin                     // sin x
	Cos                     // cos x
	Pow                     // xᶜ
	numUnary
)

var unaryNames = [numUnary]string{"Scale", "Shift", "Neg", "ReLU", "LeakyReLU", "ELU", "Sigmoid", "Tanh",
	"Softplus", "SiLU", "Exp", "Log", "Sqrt", "Abs", "Sign", "Square", "Reciprocal", "GELU", "GELUTanh", "SELU", "Sin", "Cos", "Pow"}

// UnaryNames returns the names of the functions of one element, each at its number.
func UnaryNames() []string { return unaryNames[:] }

// String returns the function's name.
func (u Unary) String() string { return unaryNames[u] }

// Forward sets y[i] = f(x[i]). y may be x.
func (u Unary) Forward(y, x []Float, c Float) {
	y = y[:len(x)]
	if !cpu.Fast || !u.forwardFast(y, x, c) {
		u.forwardGo(y, x, c)
	}
}

// forwardGo is the truth of Forward.
func (u Unary) forwardGo(y, x []Float, c Float) {
	switch u {
	case Scale:
		for i, v := range x {
			y[i] = c * v
		}
	case Shift:
		for i, v := range x {
			y[i] = v + c
		}
	case Neg:
		for i, v := range x {
			y[i] = -v
		}
	case ReLU:
		for i, v := range x {
			y[i] = max(v, 0)
		}
	case LeakyReLU:
		for i, v := range x {
			if !(v > 0) {
				v *= c
			}
			y[i] = v
		}
	case Abs:
		for i, v := range x {
			y[i] = Float(math.Abs(float64(v)))
		}
	case Sign:
		for i, v := range x {
			y[i] = sign(v)
		}
	case Square:
		for i, v := range x {
			y[i] = v * v
		}
	case Reciprocal:
		for i, v := range x {
			y[i] = 1 / v
		}
	default:
		u.transcendental(y, x, c)
	}
}

// transcendental is forwardGo of the functions that need the math package.
func (u Unary) transcendental(y, x []Float, c Float) {
	switch u {
	case ELU:
		for i, v := range x {
			if !(v > 0) {
				v = c * Float(math.Expm1(float64(v)))
			}
			y[i] = v
		}
	case Sigmoid:
		for i, v := range x {
			y[i] = sigmoid(v)
		}
	case Tanh:
		for i, v := range x {
			y[i] = Float(math.Tanh(float64(v)))
		}
	case Softplus:
		for i, v := range x {
			y[i] = Float(math.Max(float64(v), 0) + math.Log1p(math.Exp(-math.Abs(float64(v)))))
		}
	case SiLU:
		for i, v := range x {
			y[i] = weighed(float64(v), float64(v))
		}
	case GELU:
		for i, v := range x {
			y[i] = gelu(float64(v))
		}
	case GELUTanh:
		for i, v := range x {
			y[i] = weighed(float64(v), inner(float64(v)))
		}
	case SELU:
		for i, v := range x {
			if v > 0 {
				y[i] = seluGain * v
			} else {
				y[i] = Float(seluGain * seluBend * math.Expm1(float64(v)))
			}
		}
	case Exp:
		for i, v := range x {
			y[i] = Float(math.Exp(float64(v)))
		}
	case Log:
		for i, v := range x {
			y[i] = Float(math.Log(float64(v)))
		}
	case Sqrt:
		for i, v := range x {
			y[i] = Float(math.Sqrt(float64(v)))
		}
	default:
		u.wavesAndPowers(y, x, c)
	}
}

// Backward adds to dx the gradient at x, where y = f(x):
//
//	dx[i] += dy[i]·f'(x[i])
func (u Unary) Backward(dx, dy, x, y []Float, c Float) {
	dx, x, y = dx[:len(dy)], x[:len(dy)], y[:len(dy)]
	if !cpu.Fast || !u.backwardFast(dx, dy, x, y, c) {
		u.backwardGo(dx, dy, x, y, c)
	}
}

// SetBackward sets dx to the gradient at x, whatever stands there:
//
//	dx[i] = dy[i]·f'(x[i])
func (u Unary) SetBackward(dx, dy, x, y []Float, c Float) {
	dx, x, y = dx[:len(dy)], x[:len(dy)], y[:len(dy)]
	switch u {
	case Scale, Neg:
		u.Forward(dx, dy, c)
		return
	case Exp:
		Mul.Forward(dx, dy, y, 1, 1)
		return
	}
	if !cpu.Fast || !u.setBackwardFast(dx, dy, x, y, c) {
		clear(dx)
		u.Backward(dx, dy, x, y, c)
	}
}

// backwardGo is the truth of Backward.
func (u Unary) backwardGo(dx, dy, x, y []Float, c Float) {
	switch u {
	case Scale:
		for i, g := range dy {
			dx[i] += c * g
		}
	case Shift:
		for i, g := range dy {
			dx[i] += g
		}
	case Neg:
		for i, g := range dy {
			dx[i] -= g
		}
	case ReLU:
		for i, g := range dy {
			if x[i] > 0 {
				dx[i] += g
			}
		}
	case LeakyReLU:
		for i, g := range dy {
			if x[i] > 0 {
				dx[i] += g
			} else {
				dx[i] += c * g
			}
		}
	case ELU:
		for i, g := range dy {
			if x[i] > 0 {
				dx[i] += g
			} else {
				dx[i] += g * (y[i] + c)
			}
		}
	case Sigmoid:
		for i, g := range dy {
			dx[i] += g * y[i] * (1 - y[i])
		}
	case Tanh:
		for i, g := range dy {
			dx[i] += g * (1 - y[i]*y[i])
		}
	case Softplus:
		for i, g := range dy {
			dx[i] += g * sigmoid(x[i])
		}
	case Sin, Cos, Pow:
		u.backwardWaves(dx, dy, x, c)
	default:
		u.backwardMore(dx, dy, x, y)
	}
}

// backwardMore is backwardGo of the functions without a constant that are left.
func (u Unary) backwardMore(dx, dy, x, y []Float) {
	switch u {
	case SiLU:
		for i, g := range dy {
			dx[i] += g * (sigmoid(x[i]) + y[i]*sigmoid(-x[i]))
		}
	case GELU:
		for i, g := range dy {
			dx[i] += g * geluSlope(float64(x[i]))
		}
	case GELUTanh:
		for i, g := range dy {
			dx[i] += g * geluTanhSlope(float64(x[i]))
		}
	case SELU:
		for i, g := range dy {
			if x[i] > 0 {
				dx[i] += seluGain * g
			} else {
				dx[i] += g * (y[i] + seluGain*seluBend)
			}
		}
	case Exp:
		for i, g := range dy {
			dx[i] += g * y[i]
		}
	case Log:
		for i, g := range dy {
			dx[i] += g / x[i]
		}
	case Sqrt:
		for i, g := range dy {
			dx[i] += g / (2 * y[i])
		}
	case Abs:
		for i, g := range dy {
			dx[i] += g * sign(x[i])
		}
	case Square:
		for i, g := range dy {
			dx[i] += 2 * g * x[i]
		}
	case Reciprocal:
		for i, g := range dy {
			dx[i] -= g * y[i] * y[i]
		}
	}
}

func sign(v Float) Float {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return v // zero, or NaN
}

func sigmoid(v Float) Float { return Float(1 / (1 + math.Exp(-float64(v)))) }
