//go:build !noasm && !f64

package simd

import "unsafe"

// keepFast works on a copy, in which the assembly counts rows.
func (v *Values) keepFast() {
	c := *v
	c.inner = v.Offsets[len(v.Offsets)-1] - 8
	keepValuesAVX2((*byte)(unsafe.Pointer(&c)))
}

func hasZeroFast(x []Float, groups int) bool {
	return hasZeroAVX2(&x[:groups*zeroGroup][0], groups)
}
