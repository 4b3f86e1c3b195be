package exec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// add is dst += src.
func add(dst, src []tensor.Float) { vec.Add.Forward(dst, dst, src, 1, 1) }

// resize returns a slice of n elements, of s if that is long enough.
func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// Overlap reports whether x and y share elements.
func Overlap(x, y []tensor.Float) bool {
	if len(x) == 0 || len(y) == 0 {
		return false
	}
	start := func(s []tensor.Float) uintptr { return uintptr(unsafe.Pointer(&s[0])) }
	end := func(s []tensor.Float) uintptr { return uintptr(unsafe.Pointer(&s[len(s)-1])) }
	return start(x) <= end(y) && start(y) <= end(x)
}
