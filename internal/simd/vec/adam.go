package vec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Adam is one step of the optimiser for a Param whose numbers are ready.
type Adam struct {
	Rate  Float // divided by 1 − β₁ᵗ
	Decay Float // of the weights, added to the gradient
	Gain1 Float // 1 − β₁
	Keep2 Float // β₂
	Gain2 Float // 1 − β₂
	Root  Float // 1/√(1 − β₂ᵗ)
	Eps   Float
}

// Step changes the weights w by their gradient dw, and the moments m and v:
//
//	g = dw + decay·w
//	m += (1−β₁)·(g − m)
//	v = β₂·v + (1−β₂)·g²
//	w −= rate·m / (√v·root + ε)
func (a *Adam) Step(w, dw, m, v []Float) {
	n := len(w)
	dw, m, v = dw[:n], m[:n], v[:n]
	if cpu.Fast && a.stepFast(w, dw, m, v) {
		return
	}
	for i, g := range dw {
		g += a.Decay * w[i]
		m[i] += a.Gain1 * (g - m[i])
		v[i] = a.Keep2*v[i] + a.Gain2*g*g
		w[i] -= a.Rate * m[i] / (Float(math.Sqrt(float64(v[i])))*a.Root + a.Eps)
	}
}
