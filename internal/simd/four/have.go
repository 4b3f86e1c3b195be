//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"runtime"
	"unsafe"
)

// Have tells whether this build has the kernels.
const Have = true

// Widest is how many columns sums of rows take at once. With sixteen vectors, node is ten times slower.
func Widest() int {
	if runtime.GOARCH == "wasm" {
		return 32
	}
	return 64
}

// RowsSum is the kernel among RowsSum16, RowsSum8, RowsSum4, RowsSum2 and RowsSum1 that takes the most of n columns. It returns how many.
func RowsSum(y, x, w, offsets, cols, edges unsafe.Pointer, rows, n, xStride, yStride, wStride, from, to, set int) (done int) {
	switch n = min(n, Widest()); {
	case n < 4:
		n = 1
		RowsSum1(y, x, w, offsets, cols, edges, rows, xStride, yStride, wStride, from, to, set)
	case n < 8:
		RowsSum2(y, x, w, offsets, cols, edges, rows, n, xStride, yStride, wStride, from, to, set)
	case n < 16:
		RowsSum4(y, x, w, offsets, cols, edges, rows, n, xStride, yStride, wStride, from, to, set)
	case n <= 32:
		RowsSum8(y, x, w, offsets, cols, edges, rows, n, xStride, yStride, wStride, from, to, set)
	default:
		RowsSum16(y, x, w, offsets, cols, edges, rows, n, xStride, yStride, wStride, from, to, set)
	}
	return n
}

// Eights calls f with parts of a row of four columns or more, each of four to eight: its first column, and how many it has.
func Eights(width int, f func(j, n int)) {
	for j := 0; j < width; {
		n := min(8, width-j)
		if left := width - j - n; left > 0 && left < 4 {
			n = 4
		}
		f(j, n)
		j += n
	}
}
