//go:build !noasm && !f64

package simd

import "math"

func sumFast(x []Float) (s Float) {
	for ; len(x) > most; x = x[most:] {
		s += sumAVX2(&x[0], most)
	}
	if len(x) > 0 {
		s += sumAVX2(&x[0], len(x))
	}
	return s
}

func sum64Fast(x []Float) (s float64) {
	for ; len(x) > most; x = x[most:] {
		s += sum64AVX2(&x[0], most)
	}
	if len(x) > 0 {
		s += sum64AVX2(&x[0], len(x))
	}
	return s
}

func dotFast(x, y []Float) (s Float) {
	for ; len(x) > most; x, y = x[most:], y[most:] {
		s += dotAVX2(&x[0], &y[0], most)
	}
	if len(x) > 0 {
		s += dotAVX2(&x[0], &y[0], len(x))
	}
	return s
}

func maxFast(x []Float) Float {
	m := Float(math.Inf(-1))
	for ; len(x) > most; x = x[most:] {
		m = max(m, maxOfAVX2(&x[0], most))
	}
	if len(x) > 0 {
		m = max(m, maxOfAVX2(&x[0], len(x)))
	}
	return m
}
