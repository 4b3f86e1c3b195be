package spoil

import "math"

// On says that memory is spoilt. Tests set it before anything else runs.
var On = raced

// Floats fills x with NaN if memory is spoilt.
func Floats[T ~float32 | ~float64](x []T) {
	if On {
		fill(x, T(math.NaN()))
	}
}

// Ints fills x with −1, which is no row and no edge, if memory is spoilt.
func Ints[T ~int32 | ~int64](x []T) {
	if On {
		fill(x, -1)
	}
}

// fill sets all of x. The race detector need not look: what is lent has one owner.
//
//go:norace
func fill[T any](x []T, v T) {
	first := x[:min(len(x), 512)]
	for i := range first {
		first[i] = v
	}
	for rest := x[len(first):]; len(rest) > 0; {
		rest = rest[copy(rest, first):]
	}
}
