package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
)

// split gives the columns of x, a head after the other, an axis for the heads.
func split(x *grad.Var, heads, width int) *grad.Var { return x.Reshape(x.Dim(0), heads, width) }

// merge takes the mean over the heads of y, N×H×D, or lays them side by side.
func merge(y *grad.Var, average bool) *grad.Var {
	if average && y.Dim(1) > 1 {
		return y.MeanAxis(1)
	}
	return y.Reshape(y.Dim(0), y.Dim(1)*y.Dim(2))
}

// merged returns the width of merge's result.
func merged(heads, width int, average bool) int {
	if average {
		return width
	}
	return heads * width
}

// slope returns the slope of a LeakyReLU whose field is s.
func slope(s float64) float64 {
	if s == 0 {
		return 0.2
	}
	return s
}

// or returns n, or preset if n is 0.
func or(n, preset int) int {
	if n == 0 {
		return preset
	}
	return n
}

// attention returns an attention vector of each head, Glorot uniform over
// heads and width.
func attention(rng *rand.Rand, heads, width int) *grad.Param { return glorot(rng, heads, width) }
