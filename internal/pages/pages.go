package pages

import "unsafe"

// least is the size, in bytes, from which memory is asked for in huge pages:
// two of them, so that at least one lies inside.
const least = 2 * huge

// huge is the size of a huge page.
const huge = 2 << 20

// Make is make([]T, n, size). T has no pointers. What is beyond n elements, and the
// rest of the last of these pages, is not in huge pages: it is no memory until it is
// touched.
func Make[T ~float32 | ~float64 | ~int32 | ~int64](n, size int) []T {
	x := make([]T, n, size)
	if bytes := n * int(unsafe.Sizeof(*new(T))); bytes >= least {
		advise(inside(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), bytes)))
	}
	return x
}

// inside returns the part of b that is whole huge pages.
func inside(b []byte) []byte {
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % huge)
	skip := (huge - at) % huge
	if len(b) < skip {
		return nil
	}
	return b[skip : skip+(len(b)-skip)/huge*huge]
}
