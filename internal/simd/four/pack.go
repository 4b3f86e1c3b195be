//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// CopyRows copies rows of n elements, four at least, which are so many bytes apart.
//
//go:nosplit
func CopyRows(to, from place, rows, n, toStride, fromStride int) {
	for last := n*4 - 16; rows > 0; rows-- {
		end := ld(from, last)
		for j := 0; j < last; j += 16 {
			st(ld(from, j), to, j)
		}
		st(end, to, last)
		to, from = unsafe.Add(to, toStride), unsafe.Add(from, fromStride)
	}
}

// Turn4 sets columns of to to four rows of n elements, a multiple of four, which are so many bytes apart.
//
//go:nosplit
func Turn4(to, from place, n, toStride, fromStride int) {
	for b, c, d := unsafe.Add(from, fromStride), unsafe.Add(from, 2*fromStride), unsafe.Add(from, 3*fromStride); n > 0; n -= 4 {
		w, x, y, z := turned(ld(from, 0), ld(b, 0), ld(c, 0), ld(d, 0))
		st(w, to, 0)
		st(x, to, toStride)
		to = unsafe.Add(to, 2*toStride)
		st(y, to, 0)
		st(z, to, toStride)
		to = unsafe.Add(to, 2*toStride)
		from, b, c, d = on(from), on(b), on(c), on(d)
	}
}
