//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// RowsSum8 is RowsSum16 of rows of 16 to 32 columns.
//
//go:nosplit
func RowsSum8(y, x, w, offsets, cols, edges place, rows, n, xStride, yStride, wStride, from, to, set int) {
	half := n*4 - 64
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		z := unsafe.Add(y, half)
		var a0, a1, a2, a3, b0, b1, b2, b3 vec
		if set == 0 {
			a0, a1, a2, a3 = ld(y, 0), ld(y, 16), ld(y, 32), ld(y, 48)
			b0, b1, b2, b3 = ld(z, 0), ld(z, 16), ld(z, 32), ld(z, 48)
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			e := k
			if edges != nil {
				e = index(edges, k)
			}
			v := all(one(w, e*wStride))
			s := unsafe.Add(r, half)
			a0, a1, a2, a3 = add(a0, ld(r, 0), v), add(a1, ld(r, 16), v), add(a2, ld(r, 32), v), add(a3, ld(r, 48), v)
			b0, b1, b2, b3 = add(b0, ld(s, 0), v), add(b1, ld(s, 16), v), add(b2, ld(s, 32), v), add(b3, ld(s, 48), v)
		}
		quad(y, 32, a0, a1, a2, a3)
		quad(z, 32, b0, b1, b2, b3)
		y = unsafe.Add(y, yStride)
	}
}

// RowsAdd8 is RowsAdd16 of rows of 16 to 32 columns.
//
//go:nosplit
func RowsAdd8(y, x, offsets, cols place, rows, n, xStride, yStride, from, to, set int) {
	half := n*4 - 64
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		z := unsafe.Add(y, half)
		var a0, a1, a2, a3, b0, b1, b2, b3 vec
		if set == 0 {
			a0, a1, a2, a3 = ld(y, 0), ld(y, 16), ld(y, 32), ld(y, 48)
			b0, b1, b2, b3 = ld(z, 0), ld(z, 16), ld(z, 32), ld(z, 48)
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			s := unsafe.Add(r, half)
			a0, a1, a2, a3 = a0.Add(ld(r, 0)), a1.Add(ld(r, 16)), a2.Add(ld(r, 32)), a3.Add(ld(r, 48))
			b0, b1, b2, b3 = b0.Add(ld(s, 0)), b1.Add(ld(s, 16)), b2.Add(ld(s, 32)), b3.Add(ld(s, 48))
		}
		quad(y, 32, a0, a1, a2, a3)
		quad(z, 32, b0, b1, b2, b3)
		y = unsafe.Add(y, yStride)
	}
}

// RowsSum4 is RowsSum16 of rows of 8 to 16 columns.
//
//go:nosplit
func RowsSum4(y, x, w, offsets, cols, edges place, rows, n, xStride, yStride, wStride, from, to, set int) {
	half := n*4 - 32
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		z := unsafe.Add(y, half)
		var a0, a1, b0, b1 vec
		if set == 0 {
			a0, a1 = ld(y, 0), ld(y, 16)
			b0, b1 = ld(z, 0), ld(z, 16)
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			e := k
			if edges != nil {
				e = index(edges, k)
			}
			v := all(one(w, e*wStride))
			s := unsafe.Add(r, half)
			a0, a1 = add(a0, ld(r, 0), v), add(a1, ld(r, 16), v)
			b0, b1 = add(b0, ld(s, 0), v), add(b1, ld(s, 16), v)
		}
		st(a0, y, 0)
		st(a1, y, 16)
		st(b0, z, 0)
		st(b1, z, 16)
		y = unsafe.Add(y, yStride)
	}
}

// RowsAdd4 is RowsAdd16 of rows of 8 to 16 columns.
//
//go:nosplit
func RowsAdd4(y, x, offsets, cols place, rows, n, xStride, yStride, from, to, set int) {
	half := n*4 - 32
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		z := unsafe.Add(y, half)
		var a0, a1, b0, b1 vec
		if set == 0 {
			a0, a1 = ld(y, 0), ld(y, 16)
			b0, b1 = ld(z, 0), ld(z, 16)
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			s := unsafe.Add(r, half)
			a0, a1 = a0.Add(ld(r, 0)), a1.Add(ld(r, 16))
			b0, b1 = b0.Add(ld(s, 0)), b1.Add(ld(s, 16))
		}
		st(a0, y, 0)
		st(a1, y, 16)
		st(b0, z, 0)
		st(b1, z, 16)
		y = unsafe.Add(y, yStride)
	}
}

// RowsSum2 is RowsSum16 of rows of 4 to 8 columns.
//
//go:nosplit
func RowsSum2(y, x, w, offsets, cols, edges place, rows, n, xStride, yStride, wStride, from, to, set int) {
	half := n*4 - 16
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		z := unsafe.Add(y, half)
		var a0, b0 vec
		if set == 0 {
			a0 = ld(y, 0)
			b0 = ld(z, 0)
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			e := k
			if edges != nil {
				e = index(edges, k)
			}
			v := all(one(w, e*wStride))
			s := unsafe.Add(r, half)
			a0 = add(a0, ld(r, 0), v)
			b0 = add(b0, ld(s, 0), v)
		}
		st(a0, y, 0)
		st(b0, z, 0)
		y = unsafe.Add(y, yStride)
	}
}

// RowsAdd2 is RowsAdd16 of rows of 4 to 8 columns.
//
//go:nosplit
func RowsAdd2(y, x, offsets, cols place, rows, n, xStride, yStride, from, to, set int) {
	half := n*4 - 16
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		z := unsafe.Add(y, half)
		var a0, b0 vec
		if set == 0 {
			a0 = ld(y, 0)
			b0 = ld(z, 0)
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			s := unsafe.Add(r, half)
			a0 = a0.Add(ld(r, 0))
			b0 = b0.Add(ld(s, 0))
		}
		st(a0, y, 0)
		st(b0, z, 0)
		y = unsafe.Add(y, yStride)
	}
}
