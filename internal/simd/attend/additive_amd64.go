//go:build !noasm && !f64

package attend

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// logitsFast takes two keys at a time where registers have sixteen lanes, and the last by
// itself.
func (a *Additive) logitsFast() bool {
	last := *a
	if two := a.rows &^ 1; cpu.AVX512 && two > 0 {
		a.rows -= two
		last.rows = two
		additiveLogits512(&last)
		last.K, last.Z, last.rows = a.K[min(two*a.KStride, len(a.K)):], a.Z[two:], a.rows
	}
	if last.rows > 0 {
		additiveLogits(&last)
	}
	return true
}

// gradFast takes sixteen columns at a time where registers have as many lanes, and then
// eight.
func (a *Additive) gradFast() bool {
	rest := *a
	if wide := a.Width &^ 15; cpu.AVX512 && wide > 0 {
		rest.Width = wide
		additiveGrad512(&rest)
		rest.K, rest.Q, rest.V, rest.DK, rest.DQ, rest.DV, rest.Width = a.K[wide:], a.Q[wide:], a.V[wide:], a.DK[wide:], a.DQ[wide:], a.DV[wide:], a.Width-wide
	}
	if rest.Width > 0 {
		additiveGrad(&rest)
	}
	return true
}
