//go:build !noasm && !f64

package simd

// eluFast takes some rows at a time or, of wide ones, some columns of one.
func (d *Dropout) eluFast(dst, src, bias []Float, row int) {
	width, scale := len(bias), Float(d.Scale)
	step := max(1, most/width) * width
	for lo := 0; lo < len(src); {
		col := lo % width
		n, rows := min(most, width-col), 1
		if n == width {
			rows = min(step, len(src)-lo) / width
		}
		key, first := uint32(row+lo/width), uint32(col)*golden
		dropELUAVX2(&dst[lo], &src[lo], &bias[col], n, rows, key, first, &d.k0, scale)
		lo += rows * n
	}
}

func (d *Dropout) eluGradFast(dx, dy, y []Float) {
	for lo := 0; lo < len(dy); lo += most {
		dropELUGradAVX2(&dx[lo], &dy[lo], &y[lo], min(most, len(dy)-lo), Float(d.Scale))
	}
}
