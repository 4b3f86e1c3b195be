//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// forwardFast is Forward in assembly; false means that there is none.
func (u Unary) forwardFast(y, x []Float, c Float) bool {
	if u.plainly() {
		return false
	}
	for ; len(x) > cpu.AtOnce; y, x = y[cpu.AtOnce:], x[cpu.AtOnce:] {
		u.forwardPart(y, x[:cpu.AtOnce], c)
	}
	if len(x) > 0 {
		u.forwardPart(y, x, c)
	}
	return true
}

func (u Unary) forwardPart(y, x []Float, c Float) {
	to, from, n := &y[0], &x[0], len(x)
	switch u {
	case Scale:
		scaleAVX2(to, from, n, c)
	case Shift:
		shiftAVX2(to, from, n, c)
	case Neg:
		scaleAVX2(to, from, n, -1)
	case ReLU:
		reluAVX2(to, from, n, 0)
	case LeakyReLU:
		leakyReLUAVX2(to, from, n, c)
	case ELU:
		eluAVX2(to, from, n, c)
	case Sigmoid:
		sigmoidAVX2(to, from, n, 0)
	case Tanh:
		tanhAVX2(to, from, n, 0)
	case Softplus:
		softplusAVX2(to, from, n, 0)
	case SiLU:
		siluAVX2(to, from, n, 0)
	case Exp:
		expAVX2(to, from, n, 0)
	case Log:
		logAVX2(to, from, n, 0)
	case Sqrt:
		sqrtAVX2(to, from, n, 0)
	case Abs:
		absAVX2(to, from, n, 0)
	case Square:
		squareAVX2(to, from, n, 0)
	case Reciprocal:
		reciprocalAVX2(to, from, n, 0)
	default:
		u.forwardMore(to, from, n)
	}
}

// forwardMore is forwardPart of the functions without a constant that are left.
func (u Unary) forwardMore(to, from *Float, n int) {
	switch u {
	case Sign:
		signAVX2(to, from, n, 0)
	case GELU:
		geluAVX2(to, from, n, 0)
	case GELUTanh:
		geluTanhAVX2(to, from, n, 0)
	case SELU:
		seluAVX2(to, from, n, seluGain*seluBend)
	}
}

// axpyFast is Axpy in assembly: the gradient of Scale, without the way there,
// since rows are short.
func axpyFast(y, x []Float, c Float) bool {
	for ; len(x) > cpu.AtOnce; y, x = y[cpu.AtOnce:], x[cpu.AtOnce:] {
		scaleGradAVX2(&y[0], &x[0], &x[0], &x[0], cpu.AtOnce, c)
	}
	if len(x) > 0 {
		scaleGradAVX2(&y[0], &x[0], &x[0], &x[0], len(x), c)
	}
	return true
}

// backwardFast is Backward in assembly; false means that there is none.
func (u Unary) backwardFast(dx, dy, x, y []Float, c Float) bool {
	if u == Sign {
		return true // no slope anywhere
	}
	if u.plainly() {
		return false
	}
	for ; len(dy) > cpu.AtOnce; dx, dy, x, y = dx[cpu.AtOnce:], dy[cpu.AtOnce:], x[cpu.AtOnce:], y[cpu.AtOnce:] {
		u.backwardPart(dx, dy[:cpu.AtOnce], x, y, c)
	}
	if len(dy) > 0 {
		u.backwardPart(dx, dy, x, y, c)
	}
	return true
}

func (u Unary) backwardPart(dx, dy, x, y []Float, c Float) {
	to, g, at, of, n := &dx[0], &dy[0], &x[0], &y[0], len(dy)
	switch u {
	case Exp:
		mulAddAVX2(to, g, of, n)
	case Scale:
		scaleGradAVX2(to, g, at, of, n, c)
	case Shift:
		scaleGradAVX2(to, g, at, of, n, 1)
	case Neg:
		scaleGradAVX2(to, g, at, of, n, -1)
	case ReLU:
		reluGradAVX2(to, g, at, of, n, 0)
	case LeakyReLU:
		leakyReLUGradAVX2(to, g, at, of, n, c)
	case ELU:
		eluGradAVX2(to, g, at, of, n, c)
	case Sigmoid:
		sigmoidGradAVX2(to, g, at, of, n, 0)
	case Tanh:
		tanhGradAVX2(to, g, at, of, n, 0)
	case Softplus:
		softplusGradAVX2(to, g, at, of, n, 0)
	case SiLU:
		siluGradAVX2(to, g, at, of, n, 0)
	case Log:
		logGradAVX2(to, g, at, of, n, 0)
	case Sqrt:
		sqrtGradAVX2(to, g, at, of, n, 0)
	case Square:
		squareGradAVX2(to, g, at, of, n, 0)
	case Reciprocal:
		reciprocalGradAVX2(to, g, at, of, n, 0)
	case Abs:
		absGradAVX2(to, g, at, of, n, 0)
	case GELU:
		geluGradAVX2(to, g, at, of, n, 0)
	case GELUTanh:
		geluTanhGradAVX2(to, g, at, of, n, 0)
	case SELU:
		seluGradAVX2(to, g, at, of, n, seluGain*seluBend)
	}
}

// setBackwardFast is SetBackward in assembly; false means that there is none.
func (u Unary) setBackwardFast(dx, dy, x, y []Float, c Float) bool {
	for ; len(dy) > cpu.AtOnce; dx, dy, x, y = dx[cpu.AtOnce:], dy[cpu.AtOnce:], x[cpu.AtOnce:], y[cpu.AtOnce:] {
		if !u.setBackwardPart(dx, dy[:cpu.AtOnce], x, y, c) {
			return false
		}
	}
	return len(dy) == 0 || u.setBackwardPart(dx, dy, x, y, c)
}

func (u Unary) setBackwardPart(dx, dy, x, y []Float, c Float) bool {
	to, g, at, of, n := &dx[0], &dy[0], &x[0], &y[0], len(dy)
	switch u {
	case ReLU:
		reluSlopeAVX2(to, g, at, of, n, 0)
	case LeakyReLU:
		leakyReLUSlopeAVX2(to, g, at, of, n, c)
	case ELU:
		eluSlopeAVX2(to, g, at, of, n, c)
	case Sigmoid:
		sigmoidSlopeAVX2(to, g, at, of, n, 0)
	case Tanh:
		tanhSlopeAVX2(to, g, at, of, n, 0)
	default:
		return false
	}
	return true
}
