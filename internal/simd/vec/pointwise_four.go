//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"math"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// forwardFast is Forward; false means that there is no kernel.
func (u Unary) forwardFast(y, x []Float, c Float) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		to, from, n := begin(y, lo), begin(x, lo), next(len(x), lo)
		switch u {
		case Scale:
			four.Scale(to, from, n, c)
		case Shift:
			four.Shift(to, from, n, c)
		case Neg:
			four.Scale(to, from, n, -1)
		case ReLU:
			four.ReLU(to, from, n)
		case LeakyReLU:
			four.LeakyReLU(to, from, n, c)
		case ELU:
			four.ELU(to, from, constants(), n, c)
		case Sigmoid:
			four.Sigmoid(to, from, constants(), n)
		case Tanh:
			four.Tanh(to, from, constants(), n)
		case SiLU:
			swish.forward(y[lo:lo+n], x[lo:])
		case GELUTanh:
			tanhGELU.forward(y[lo:lo+n], x[lo:])
		case Square:
			four.Mul(to, from, from, n)
		case Exp:
			four.Exp(to, from, constants(), n)
		case Sqrt:
			four.Sqrt(to, from, n)
		default:
			return u.steps(y, x)
		}
	}
	return true
}

// backwardFast and setBackwardFast are Backward and SetBackward; false means that there is no kernel.
func (u Unary) backwardFast(dx, dy, x, y []Float, c Float) bool { return u.slope(dx, dy, x, y, c, 1) }
func (u Unary) setBackwardFast(dx, dy, x, y []Float, c Float) bool {
	return u.slope(dx, dy, x, y, c, 0)
}

// slope sets dx to the gradient, or with add adds that.
func (u Unary) slope(dx, dy, x, y []Float, c Float, add int) bool {
	switch {
	case u == Shift:
		c = 1
	case u == Neg:
		c = -1
	case u == Exp && add == 1:
		return mulAddFast(dx, dy, y)
	}
	for lo := 0; lo < len(dy); lo += cpu.AtOnce {
		to, from, n := begin(dx, lo), begin(dy, lo), next(len(dy), lo)
		switch u {
		case Scale, Shift, Neg:
			scaled(to, from, n, add, c)
		case ReLU:
			four.ReLUSlope(to, from, begin(x, lo), n, add)
		case SiLU:
			swish.slope(dx[lo:lo+n], dy[lo:], x[lo:], add)
		case GELUTanh:
			tanhGELU.slope(dx[lo:lo+n], dy[lo:], x[lo:], add)
		case LeakyReLU:
			four.LeakyReLUSlope(to, from, begin(x, lo), n, add, c)
		case ELU:
			four.ELUSlope(to, from, begin(x, lo), begin(y, lo), n, add, c)
		case Sigmoid:
			four.SigmoidSlope(to, from, begin(y, lo), n, add)
		case Tanh:
			four.TanhSlope(to, from, begin(y, lo), n, add)
		default:
			return u.slopeSteps(dx, dy, x, y, add)
		}
	}
	return true
}

// scaled sets y to c·x, or adds it.
func scaled(y, x unsafe.Pointer, n, add int, c Float) {
	if add != 0 {
		four.Axpy(y, x, n, c)
	} else {
		four.Scale(y, x, n, c)
	}
}

// forwardFast is Forward, if both steps are 1, or of a number that comes second.
func (b Binary) forwardFast(z, x, y []Float, sx, sy int) bool {
	n := len(z)
	switch {
	case n == 0:
		return true
	case sx == 1 && sy == 0 && b == Add:
		return Shift.forwardFast(z, x[:n], y[0])
	case sx == 1 && sy == 0 && b == Sub:
		return Shift.forwardFast(z, x[:n], -y[0])
	case sx == 1 && sy == 0 && b == Mul:
		return Scale.forwardFast(z, x[:n], y[0])
	case sx == 1 && sy == 0 && b == Div:
		return divideFast(z, x[:n], y[0])
	case sx != 1 || sy != 1:
		return false
	}
	x, y = x[:n], y[:n]
	for lo := 0; lo < n; lo += cpu.AtOnce {
		to, p, q := begin(z, lo), begin(x, lo), begin(y, lo)
		switch b {
		case Add:
			four.Add(to, p, q, next(n, lo))
		case Sub:
			four.Sub(to, p, q, next(n, lo))
		case Mul:
			four.Mul(to, p, q, next(n, lo))
		case Div:
			four.Div(to, p, q, next(n, lo))
		default:
			return false
		}
	}
	return true
}

// divideFast divides by a number.
func divideFast(z, x []Float, c Float) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.DivideBy(begin(z, lo), begin(x, lo), next(len(x), lo), c)
	}
	return true
}

// backwardXFast is BackwardX; false means that there is no kernel.
func (b Binary) backwardXFast(dx, dz, x, y []Float, sx, sy int) bool {
	n := len(dz)
	switch {
	case sx == 0 || n == 0:
		return false
	case b == Add || b == Sub:
		return axpyFast(dx[:n], dz, 1)
	case b == Mul && sy == 0:
		return axpyFast(dx[:n], dz, y[0])
	case b == Mul:
		return mulAddFast(dx[:n], dz, y[:n])
	case b == Div && sy == 1:
		return quotientSlope(dx[:n], dz, x, y[:n], false)
	}
	return false
}

// backwardYFast is BackwardY; false means that there is no kernel.
func (b Binary) backwardYFast(dy, dz, x, y []Float, sx, sy int) bool {
	switch {
	case b == Sub && sy != 0:
		return axpyFast(dy[:len(dz)], dz, -1)
	case b == Div && sx == 1 && sy == 1:
		return quotientSlope(dy[:len(dz)], dz, x[:len(dz)], y[:len(dz)], true)
	}
	return (b == Add || b == Mul) && b.backwardXFast(dy, dz, y, x, sy, sx)
}

// axpyFast is Axpy.
func axpyFast(y, x []Float, c Float) bool { return Scale.slope(y, x, nil, nil, c, 1) }

// mulAddFast is MulAdd.
func mulAddFast(z, x, y []Float) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.MulAdd(begin(z, lo), begin(x, lo), begin(y, lo), next(len(x), lo))
	}
	return true
}

func sumFast(x []Float) (s Float, done int) {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		s += four.Sum(begin(x, lo), next(len(x), lo))
	}
	return s, len(x)
}

func dotFast(x, y []Float) (s Float, done int) {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		s += four.Dot(begin(x, lo), begin(y, lo), next(len(x), lo))
	}
	return s, len(x)
}

func hasZeroFast(x []Float) (has bool, done int) {
	for lo := 0; lo < len(x) && !has; lo += cpu.AtOnce {
		has = four.HasZero(begin(x, lo), next(len(x), lo)) != 0
	}
	return has, len(x)
}

// addRowsFast adds rows, one after another.
func addRowsFast(y, x []Float) bool {
	n := len(y)
	if n < 16 {
		return false
	}
	for ; len(x) > 0; x = x[n:] {
		for lo := 0; lo < n; lo += cpu.AtOnce {
			four.Add(begin(y, lo), begin(y, lo), begin(x, lo), next(n, lo))
		}
	}
	return true
}

func (a *Adam) stepFast(w, dw, m, v []Float) bool {
	var numbers [7][4]Float
	for i, x := range [...]Float{a.Rate, a.Decay, a.Gain1, a.Keep2, a.Gain2, a.Root, a.Eps} {
		numbers[i] = [4]Float{x, x, x, x}
	}
	for lo := 0; lo < len(w); lo += cpu.AtOnce {
		four.AdamStep(begin(w, lo), begin(dw, lo), begin(m, lo), begin(v, lo), unsafe.Pointer(&numbers), next(len(w), lo))
	}
	return true
}

// weighing is x·sigmoid(x·(a + b·x²)). Beyond end its slope is that at end.
type weighing struct{ a, b, end Float }

// swish and tanhGELU are SiLU and GELU's form by tanh.
var (
	swish    = weighing{1, 0, Float(math.Inf(1))}
	tanhGELU = weighing{gain1, gain3, 15}
)

// forward sets y to it, in whole fours, as its kernels want.
func (w weighing) forward(y, x []Float) {
	n := len(y) &^ 3
	four.Weighed(begin(y, 0), begin(x, 0), constants(), n, w.a, w.b)
	if n < len(y) {
		var r [4]Float
		copy(r[:], x[n:len(y)])
		four.Weighed(begin(r[:], 0), begin(r[:], 0), constants(), len(r), w.a, w.b)
		copy(y[n:], r[:])
	}
}

// slope sets dx to dy times the slope, or with add adds that.
func (w weighing) slope(dx, dy, x []Float, add int) {
	n := len(dx) &^ 3
	four.WeighedSlope(begin(dx, 0), begin(dy, 0), begin(x, 0), constants(), n, add, w.a, w.b, w.end)
	if n < len(dx) {
		var to, from, of [4]Float
		copy(to[:], dx[n:])
		copy(from[:], dy[n:len(dx)])
		copy(of[:], x[n:len(dx)])
		four.WeighedSlope(begin(to[:], 0), begin(from[:], 0), begin(of[:], 0), constants(), len(to), add, w.a, w.b, w.end)
		copy(dx[n:], to[:])
	}
}
