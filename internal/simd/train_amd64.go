//go:build !noasm && !f64

package simd

func (a *Adam) stepFast(w, dw, m, v []Float) {
	n := len(w)
	for lo := 0; lo < n; lo += most {
		adamAVX2(&w[lo], &dw[lo], &m[lo], &v[lo], min(most, n-lo), &a.Rate)
	}
}

// rowsFast is Set or Add of rows, in pieces of some rows or, of a wide one, of
// some columns.
func (d *Dropout) rowsFast(dst, src []Float, row, width int, set bool) {
	step, scale := max(1, most/width)*width, Float(d.Scale)
	for lo := 0; lo < len(src); {
		col := lo % width
		n := min(most, width-col)
		rows := 1
		if n == width {
			rows = min(step, len(src)-lo) / width
		}
		key, first := uint32(row+lo/width), uint32(col)*golden
		if set { // the assembly reads k0, k1 and drop
			dropoutSetAVX2(&dst[lo], &src[lo], n, rows, key, first, &d.k0, scale)
		} else {
			dropoutAddAVX2(&dst[lo], &src[lo], n, rows, key, first, &d.k0, scale)
		}
		lo += rows * n
	}
}
