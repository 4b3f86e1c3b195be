//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

func normaliseFast(y, x, gain, with []Float, m Moments) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.Normalise(begin(y, lo), begin(x, lo), place(gain, lo), place(with, lo), next(len(x), lo), m.Mean, m.Rest, m.Scale)
	}
	return true
}

func normaliseGradFast(dx, g, x []Float, m Moments, of Line, set bool) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.NormaliseSlope(begin(dx, lo), begin(g, lo), begin(x, lo), next(len(x), lo), number(!set), m.Mean, m.Rest, m.Scale, of.Slope, of.At0)
	}
	return true
}

func normaliseSumsFast(gain, bias, x, dy []Float, m Moments) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		four.NormaliseSums(begin(gain, lo), place(bias, lo), begin(x, lo), begin(dy, lo), next(len(x), lo), m.Mean, m.Rest, m.Scale)
	}
	return true
}
