//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// RowsSum16 is that of other processors in tiles: with sixteen sums at once node is ten times slower.
func RowsSum16(y, x, w, offsets, cols, edges place, rows, n, xStride, yStride, wStride, from, to, set int) {
	RowsSum8(y, x, w, offsets, cols, edges, rows, 32, xStride, yStride, wStride, from, to, set)
	n -= 32
	y, x = unsafe.Add(y, 128), unsafe.Add(x, 128)
	switch {
	case n >= 16:
		RowsSum8(y, x, w, offsets, cols, edges, rows, n, xStride, yStride, wStride, from, to, set)
	case n >= 8:
		RowsSum4(y, x, w, offsets, cols, edges, rows, n, xStride, yStride, wStride, from, to, set)
	case n >= 4:
		RowsSum2(y, x, w, offsets, cols, edges, rows, n, xStride, yStride, wStride, from, to, set)
	default:
		for ; n > 0; n-- {
			RowsSum1(y, x, w, offsets, cols, edges, rows, xStride, yStride, wStride, from, to, set)
			y, x = unsafe.Add(y, 4), unsafe.Add(x, 4)
		}
	}
}

// RowsAdd16 is RowsSum16 without weights.
func RowsAdd16(y, x, offsets, cols place, rows, n, xStride, yStride, from, to, set int) {
	RowsAdd8(y, x, offsets, cols, rows, 32, xStride, yStride, from, to, set)
	n -= 32
	y, x = unsafe.Add(y, 128), unsafe.Add(x, 128)
	switch {
	case n >= 16:
		RowsAdd8(y, x, offsets, cols, rows, n, xStride, yStride, from, to, set)
	case n >= 8:
		RowsAdd4(y, x, offsets, cols, rows, n, xStride, yStride, from, to, set)
	case n >= 4:
		RowsAdd2(y, x, offsets, cols, rows, n, xStride, yStride, from, to, set)
	default:
		for ; n > 0; n-- {
			RowsSum1(y, x, nil, offsets, cols, nil, rows, xStride, yStride, 0, from, to, set)
			y, x = unsafe.Add(y, 4), unsafe.Add(x, 4)
		}
	}
}
