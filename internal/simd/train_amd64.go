//go:build !noasm && !f64

package simd

func (a *Adam) stepFast(w, dw, m, v []Float) {
	n := len(w)
	for lo := 0; lo < n; lo += most {
		adamAVX2(&w[lo], &dw[lo], &m[lo], &v[lo], min(most, n-lo), &a.Rate)
	}
}

func welfordFast(sum, mean, low, x []Float, rows Float) {
	for lo := 0; lo < len(x); lo += most {
		welfordAVX2(&sum[lo], &mean[lo], &low[lo], &x[lo], min(most, len(x)-lo), rows)
	}
}

// pieceOf returns what one call takes of size elements, in rows of a width, from
// element lo on: some rows or, of a wide one, some columns.
func pieceOf(lo, size, width int) (col, n, rows int) {
	col = lo % width
	if n = min(most, width-col); n < width {
		return col, n, 1
	}
	return col, n, min(most, size-lo) / width
}

// rowsFast is Set or Add of rows, in pieces.
func (d *Dropout) rowsFast(dst, src []Float, row, width int, set bool) {
	scale := Float(d.Scale)
	for lo := 0; lo < len(src); {
		col, n, rows := pieceOf(lo, len(src), width)
		key, first := uint32(row+lo/width), uint32(col)*golden
		if set { // the assembly reads k0, k1 and drop
			dropoutSetAVX2(&dst[lo], &src[lo], n, rows, key, first, &d.K0, scale)
		} else {
			dropoutAddAVX2(&dst[lo], &src[lo], n, rows, key, first, &d.K0, scale)
		}
		lo += rows * n
	}
}
