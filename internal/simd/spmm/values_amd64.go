//go:build !noasm && !f64

package spmm

// keepFast works on a copy, in which the assembly counts rows.
func (v *Values) keepFast() {
	c := *v
	c.inner = v.Offsets[len(v.Offsets)-1] - 8
	keepValuesAVX2(&c)
}

func (v *Values) dropFast() { dropValuesAVX2(v) }
