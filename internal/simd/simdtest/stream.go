package simdtest

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/compare"
)

// onLine returns n numbers that start with a cache line, if shift is zero, with
// guard words around them, and a check that those still stand.
func onLine(n, shift int) (x []Float, intact func() bool) {
	x, _ = Guarded(n+16+shift, 0, func() Float { return Guard })
	at := shift
	for uintptr(unsafe.Pointer(unsafe.SliceData(x[at-shift:])))%64 != 0 {
		at++
	}
	all := x
	for i := range n {
		all[at+i] = Float(math.NaN())
	}
	return all[at : at+n : at+n], func() bool {
		for i, v := range all {
			if (i < at || i >= at+n) && v != Guard {
				return false
			}
		}
		return true
	}
}

// StreamTrial checks that a result set past the caches has the bits of one that is
// not: set fills in a slice of n elements.
func StreamTrial(t *testing.T, what string, n int, set func(y []Float, stream bool)) {
	t.Helper()
	want := make([]Float, n)
	set(want, false)
	for shift := range 9 {
		y, intact := onLine(n, shift)
		set(y, true)
		compare.Near(t, fmt.Sprintf("%s, shifted by %d", what, shift), y, want, compare.SameBits.OrNaN())
		if !intact() {
			t.Fatalf("%s, shifted by %d: wrote outside", what, shift)
		}
	}
}
