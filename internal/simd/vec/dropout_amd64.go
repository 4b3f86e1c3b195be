//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// pieceOf returns what one call takes of size elements, in rows of a width, from
// element lo on: some rows or, of a wide one, some columns.
func pieceOf(lo, size, width int) (col, n, rows int) {
	col = lo % width
	if n = min(cpu.AtOnce, width-col); n < width {
		return col, n, 1
	}
	return col, n, min(cpu.AtOnce, size-lo) / width
}

// rowsFast is Set or Add of rows, in pieces.
func (d *Dropout) rowsFast(dst, src []Float, row, width int, set bool) bool {
	scale := Float(d.Scale)
	for lo := 0; lo < len(src); {
		col, n, rows := pieceOf(lo, len(src), width)
		key, first := uint32(row+lo/width), uint32(col)*ColumnKey
		if set {
			dropoutSetAVX2(&dst[lo], &src[lo], n, rows, key, first, d, scale)
		} else {
			dropoutAddAVX2(&dst[lo], &src[lo], n, rows, key, first, d, scale)
		}
		lo += rows * n
	}
	return true
}
