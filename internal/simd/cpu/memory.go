package cpu

import "unsafe"

// A row is asked for this many places before it is read. That pays where the
// array is beyond the second-level cache, of so many elements.
const (
	AheadRows = 24      // places
	FarFrom   = 1 << 17 // elements
)

// AtOnce is how many elements a kernel of a tile is given at once: it cannot be
// preempted.
const AtOnce = 1 << 14

// WideRow is the length of rows for which some kernels are written apart.
const WideRow = 64

// Ahead returns how far ahead rows of an array are asked for, and for how many
// of n rows there is one so far ahead in a list.
func Ahead(elements, n, list int) (places, near int) {
	if elements < FarFrom {
		return 0, 0
	}
	return AheadRows, min(n, list-AheadRows)
}

// Aligned reports whether all rows of x begin where a register of so many elements does.
func Aligned(x []Float, stride, register int) bool {
	bytes := uintptr(register) * unsafe.Sizeof(x[0])
	return stride%register == 0 && uintptr(unsafe.Pointer(unsafe.SliceData(x)))%bytes == 0
}

// StreamFrom is the length of a result from which it is stored past the caches,
// which it would have left before it is read: that saves reading it first. Tests
// set it.
var StreamFrom = 1 << 22

// HeldMost is how many elements a projection may have that is held where nothing is
// recorded, a gigabyte of float32: a larger one is made in parts, which costs time. Tests
// set it.
var HeldMost = 1<<28 - 1

// Widest is how many elements the largest register has.
const Widest = 16

// MostElements is how many elements the rows of edges in one call should have at most,
// where one call does all of an edge: it cannot be preempted. Whether assembly is used
// depends on the shape of a row alone, so no bit depends on how edges are cut.
const MostElements = 1 << 16
