//go:build !noasm && !f64

package vec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

func sumFast(x []Float) (s Float, done int) {
	done = len(x)
	for ; len(x) > cpu.AtOnce; x = x[cpu.AtOnce:] {
		s += sumAVX2(&x[0], cpu.AtOnce)
	}
	if len(x) > 0 {
		s += sumAVX2(&x[0], len(x))
	}
	return s, done
}

func sum64Fast(x []Float) (s float64, done int) {
	done = len(x)
	for ; len(x) > cpu.AtOnce; x = x[cpu.AtOnce:] {
		s += sum64AVX2(&x[0], cpu.AtOnce)
	}
	if len(x) > 0 {
		s += sum64AVX2(&x[0], len(x))
	}
	return s, done
}

func dotFast(x, y []Float) (s Float, done int) {
	done = len(x)
	for ; len(x) > cpu.AtOnce; x, y = x[cpu.AtOnce:], y[cpu.AtOnce:] {
		s += dotAVX2(&x[0], &y[0], cpu.AtOnce)
	}
	if len(x) > 0 {
		s += dotAVX2(&x[0], &y[0], len(x))
	}
	return s, done
}

func maxFast(x []Float) (m Float, done int) {
	m, done = Float(math.Inf(-1)), len(x)
	for ; len(x) > cpu.AtOnce; x = x[cpu.AtOnce:] {
		m = max(m, maxOfAVX2(&x[0], cpu.AtOnce))
	}
	if len(x) > 0 {
		m = max(m, maxOfAVX2(&x[0], len(x)))
	}
	return m, done
}
