package dense

import (
	"math"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Where chooses elements of X where If is not 0, and of Y where it is:
//
//	z[i] = X[i] if If[i] ≠ 0, else Y[i]
type Where struct{ If, X, Y []tensor.Float }

// Forward sets z.
func (k Where) Forward(z []tensor.Float) {
	for i, v := range k.If {
		if v != 0 {
			z[i] = k.X[i]
		} else {
			z[i] = k.Y[i]
		}
	}
}

// Backward adds to the gradients of X and Y, where they are not nil.
func (k Where) Backward(dx, dy, dz []tensor.Float) {
	for i, v := range k.If {
		if v != 0 && dx != nil {
			dx[i] += dz[i]
		}
		if v == 0 && dy != nil {
			dy[i] += dz[i]
		}
	}
}

// Clamp moves elements into [Least, Most]; NaN stays:
//
//	y[i] = min(max(x[i], Least), Most)
type Clamp struct{ Least, Most tensor.Float }

// Forward sets y.
func (k Clamp) Forward(y, x []tensor.Float) {
	for i, v := range x {
		y[i] = min(max(v, k.Least), k.Most)
	}
}

// Backward adds to dx; the slope is 1 at both limits.
func (k Clamp) Backward(dx, x, dy []tensor.Float) {
	for i, v := range x {
		if !(v < k.Least || v > k.Most) {
			dx[i] += dy[i]
		}
	}
}

// Pow is xᵖ, in float64:
//
//	y[i] = x[i]ᵖ
type Pow float64

// Forward sets y.
func (p Pow) Forward(y, x []tensor.Float) {
	for i, v := range x {
		y[i] = tensor.Float(math.Pow(float64(v), float64(p)))
	}
}

// Backward adds to dx.
func (p Pow) Backward(dx, x, dy []tensor.Float) {
	if p == 0 {
		return
	}
	for i, v := range x {
		dx[i] += dy[i] * tensor.Float(float64(p)*math.Pow(float64(v), float64(p)-1))
	}
}
