//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/four"

// Functions without a kernel of their own are made of kernels, for a part that stays in the first cache.

// ones is a part of them.
var ones = func() (p part) {
	for i := range p {
		p[i] = 1
	}
	return p
}()

// steps is Forward of a function that is made of kernels; false means that it is none. y may be x.
func (u Unary) steps(y, x []Float) bool {
	if u != Abs && u != Reciprocal && u != SELU {
		return false
	}
	return parts(len(x), func(lo, n int) {
		var o part
		to, from := begin(y, lo), begin(x, lo)
		switch u {
		case Abs: // what is above zero, and what is below
			four.Scale(o.at(), from, n, -1)
			four.ReLU(o.at(), o.at(), n)
			four.ReLU(to, from, n)
			four.Add(to, to, o.at(), n)
		case Reciprocal:
			four.Div(to, ones.at(), from, n)
		case SELU:
			four.ReLU(o.at(), from, n)
			four.Scale(o.at(), o.at(), n, seluGain-1)
			four.ELU(to, from, constants(), n, seluGain*seluBend)
			four.Add(to, to, o.at(), n)
		}
	})
}

// slopeSteps is slope of such a function, and of others that have no kernel for it.
func (u Unary) slopeSteps(dx, dy, x, y []Float, add int) bool {
	switch u {
	case Sign:
		if add == 0 {
			clear(dx)
		}
		return true
	case Square, Reciprocal, Log, Sqrt, Softplus, SELU:
	default:
		return false
	}
	return parts(len(dy), func(lo, n int) {
		var o part
		by := o.at()
		switch u {
		case Square:
			four.Scale(by, begin(dy, lo), n, 2)
			four.Mul(by, by, begin(x, lo), n)
		case Reciprocal:
			four.Mul(by, begin(dy, lo), begin(y, lo), n)
			four.Mul(by, by, begin(y, lo), n)
			four.Scale(by, by, n, -1)
		case Log:
			four.Div(by, begin(dy, lo), begin(x, lo), n)
		case Sqrt:
			four.Scale(by, begin(y, lo), n, 2)
			four.Div(by, begin(dy, lo), by, n)
		case Softplus:
			four.Sigmoid(by, begin(x, lo), constants(), n)
			four.Mul(by, by, begin(dy, lo), n)
		case SELU:
			four.ReLUSlope(by, begin(dy, lo), begin(x, lo), n, 0)
			four.Scale(by, by, n, seluGain-1)
			four.ELUSlope(by, begin(dy, lo), begin(x, lo), begin(y, lo), n, 1, seluGain*seluBend)
		}
		scaled(begin(dx, lo), by, n, add, 1)
	})
}

// quotientSlope is BackwardX of Div, or with y BackwardY, where both steps are 1.
func quotientSlope(d, dz, x, y []Float, ofY bool) bool {
	return parts(len(dz), func(lo, n int) {
		var o, square part
		to, g, v := begin(d, lo), begin(dz, lo), begin(y, lo)
		if !ofY {
			four.Div(o.at(), g, v, n)
			four.Add(to, to, o.at(), n)
			return
		}
		four.Mul(o.at(), g, begin(x, lo), n)
		four.Mul(square.at(), v, v, n)
		four.Div(o.at(), o.at(), square.at(), n)
		four.Sub(to, to, o.at(), n)
	})
}
