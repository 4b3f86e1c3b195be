//go:build !noasm && !f64

package spmm

// keepFast works on a copy, in which the assembly counts rows.
func (v *Values) keepFast() bool {
	c := *v
	c.inner = v.Offsets[len(v.Offsets)-1] - 8
	keepValuesAVX2(&c)
	return true
}

func (v *Values) dropFast() bool {
	dropValuesAVX2(v)
	return true
}
