//go:build !noasm && !f64

package simd

import "unsafe"

// keepFast works on a copy, in which the assembly counts rows.
func (v *Values) keepFast() {
	c := *v
	c.inner = v.Offsets[len(v.Offsets)-1] - 8
	keepValuesAVX2((*byte)(unsafe.Pointer(&c)))
}

// hasZeroFast looks at some whole groups, in calls that do not last long.
func hasZeroFast(x []Float) bool {
	for lo := 0; lo < len(x); lo += most {
		if hasZeroAVX2(&x[lo], min(most, len(x)-lo)/zeroGroup) {
			return true
		}
	}
	return false
}
