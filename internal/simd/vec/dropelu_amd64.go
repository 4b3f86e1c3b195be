//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// eluFast takes the rows in pieces.
func (d *Dropout) eluFast(dst, src, bias []Float, row int) bool {
	width, scale := len(bias), Float(d.Scale)
	for lo := 0; lo < len(src); {
		col, n, rows := pieceOf(lo, len(src), width)
		key, first := uint32(row+lo/width), uint32(col)*ColumnKey
		dropELUAVX2(&dst[lo], &src[lo], &bias[col], n, rows, key, first, d, scale)
		lo += rows * n
	}
	return true
}

func (d *Dropout) eluGradFast(dx, dy, y []Float) bool {
	for lo := 0; lo < len(dy); lo += cpu.AtOnce {
		dropELUGradAVX2(&dx[lo], &dy[lo], &y[lo], min(cpu.AtOnce, len(dy)-lo), Float(d.Scale))
	}
	return true
}
