//go:build !noasm && !f64

package spmm

import "unsafe"

// keepFast works on a copy, in which the assembly counts rows.
func (v *Values) keepFast() {
	c := *v
	c.inner = v.Offsets[len(v.Offsets)-1] - 8
	keepValuesAVX2((*byte)(unsafe.Pointer(&c)))
}

func (v *Values) dropFast() { dropValuesAVX2((*byte)(unsafe.Pointer(v))) }
