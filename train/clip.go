package train

import (
	"math"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Norm returns the Euclidean norm of all gradients together, added up in
// float64 in the order of g. Watched values do not count.
func Norm(g grad.Grads) float64 {
	sum := 0.0
	for i := range g {
		if g[i].Param != nil {
			sum += squares(g[i].Value.Data)
		}
	}
	return math.Sqrt(sum)
}

// squares adds in four lanes: a chain of float64 additions waits for itself.
func squares(x []tensor.Float) float64 {
	var a, b, c, d float64
	i := 0
	for ; i+4 <= len(x); i += 4 {
		x0, x1, x2, x3 := float64(x[i]), float64(x[i+1]), float64(x[i+2]), float64(x[i+3])
		a += x0 * x0
		b += x1 * x1
		c += x2 * x2
		d += x3 * x3
	}
	for _, v := range x[i:] {
		a += float64(v) * float64(v)
	}
	return (a + b) + (c + d)
}

// ClipNorm scales all gradients so that their [Norm] is at most limit, and
// returns the norm they had. A norm that is not finite scales nothing.
func ClipNorm(g grad.Grads, limit float64) float64 {
	norm := Norm(g)
	if !(norm > limit) || math.IsInf(norm, 0) {
		return norm
	}
	by := tensor.Float(limit / norm)
	for i := range g {
		if g[i].Param == nil {
			continue
		}
		x := g[i].Value.Data
		for j := range x {
			x[j] *= by
		}
	}
	return norm
}

// ClipValue moves each number of each gradient into the range from −limit to
// limit. A NaN stays.
func ClipValue(g grad.Grads, limit float64) {
	top := tensor.Float(limit)
	for i := range g {
		if g[i].Param == nil {
			continue
		}
		x := g[i].Value.Data
		for j, v := range x {
			x[j] = max(-top, min(top, v))
		}
	}
}
