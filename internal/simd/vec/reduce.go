package vec

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// Sum returns Σ x.
func Sum(x []Float) (s Float) {
	done := 0
	if cpu.Fast {
		s, done = sumFast(x)
	}
	for _, v := range x[done:] {
		s += v
	}
	return s
}

// Sum64 returns Σ x, added in float64.
func Sum64(x []Float) (s float64) {
	done := 0
	if cpu.Fast {
		s, done = sum64Fast(x)
	}
	for _, v := range x[done:] {
		s += float64(v)
	}
	return s
}

// Dot returns Σ x·y.
func Dot(x, y []Float) (s Float) {
	y = y[:len(x)]
	done := 0
	if cpu.Fast {
		s, done = dotFast(x, y)
	}
	for i := done; i < len(x); i++ {
		s += x[i] * y[i]
	}
	return s
}

// MaxOf returns the largest element, NaN where there is one, and −Inf of none.
func MaxOf(x []Float) Float {
	m, done := Float(math.Inf(-1)), 0
	if cpu.Fast {
		m, done = maxFast(x)
	}
	for _, v := range x[done:] {
		m = max(m, v)
	}
	return m
}

// Axpy adds c·x to y:
//
//	y[i] += c·x[i]
func Axpy(y []Float, c Float, x []Float) {
	y = y[:len(x)]
	if cpu.Fast && axpyFast(y, x, c) {
		return
	}
	for i, v := range x {
		y[i] += Float(c * v) // rounded: some processors would fuse the two
	}
}

// MulAdd adds the products of two slices to a third:
//
//	z[i] += x[i]·y[i]
func MulAdd(z, x, y []Float) {
	z, y = z[:len(x)], y[:len(x)]
	if cpu.Fast && mulAddFast(z, x, y) {
		return
	}
	for i, v := range x {
		z[i] += v * y[i]
	}
}
