//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// RowsSum1 is RowsSum16 of one column. A nil w is 1 everywhere.
//
//go:nosplit
func RowsSum1(y, x, w, offsets, cols, edges place, rows, xStride, yStride, wStride, from, to, set int) {
	for i := 0; i < rows; i++ {
		var s float32
		if set == 0 {
			s = one(y, 0)
		}
		end := min(offset(offsets, i+1), to)
		for k := max(offset(offsets, i), from); k < end; k++ {
			v, e := one(x, index(cols, k)*xStride), k
			if edges != nil {
				e = index(edges, k)
			}
			if w != nil {
				v = float32(v * one(w, e*wStride))
			}
			s += v
		}
		put(s, y, 0)
		y = unsafe.Add(y, yStride)
	}
}

// RowsHeads8 is RowsSum16 of 32 columns in four heads of eight, which have four weights side by side.
//
//go:nosplit
func RowsHeads8(y, x, w, offsets, cols, edges place, rows, xStride, yStride, wStride, from, to, set int) {
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		var a0, a1, a2, a3, b0, b1, b2, b3 vec
		if set == 0 {
			a0, b0, a1, b1 = ld(y, 0), ld(y, 16), ld(y, 32), ld(y, 48)
			a2, b2, a3, b3 = ld(y, 64), ld(y, 80), ld(y, 96), ld(y, 112)
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			e := k
			if edges != nil {
				e = index(edges, k)
			}
			v := ld(w, e*wStride)
			v0, v1, v2, v3 := all(v.GetElem(0)), all(v.GetElem(1)), all(v.GetElem(2)), all(v.GetElem(3))
			a0, b0, a1, b1 = add(a0, ld(r, 0), v0), add(b0, ld(r, 16), v0), add(a1, ld(r, 32), v1), add(b1, ld(r, 48), v1)
			a2, b2, a3, b3 = add(a2, ld(r, 64), v2), add(b2, ld(r, 80), v2), add(a3, ld(r, 96), v3), add(b3, ld(r, 112), v3)
		}
		quad(y, 32, a0, b0, a1, b1)
		quad(unsafe.Add(y, 64), 32, a2, b2, a3, b3)
		y = unsafe.Add(y, yStride)
	}
}

// RowsDivide divides rows of n columns by how many nonzeros they have, if any:
//
//	y[i,j] /= offsets[i+1] − offsets[i]
//
//go:nosplit
func RowsDivide(y, offsets place, rows, n, yStride int) {
	for i := 0; i < rows; i++ {
		if count := offset(offsets, i+1) - offset(offsets, i); count > 1 {
			d := all(float32(count))
			p, j := y, n
			for ; j >= 4; j -= 4 {
				st(ld(p, 0).Div(d), p, 0)
				p = unsafe.Add(p, 16)
			}
			for ; j > 0; j-- {
				put(one(p, 0)/float32(count), p, 0)
				p = unsafe.Add(p, 4)
			}
		}
		y = unsafe.Add(y, yStride)
	}
}

// Spill8 adds rows of x of 16 to 32 columns to where their nonzeros point, each times its
// weight; with skip, but for weights of zero:
//
//	y[cols[k],j] += w[k]·x[i,j]    for offsets[i] ≤ k < offsets[i+1], in order, the product rounded
//
//go:nosplit
func Spill8(y, x, w, offsets, cols place, rows, n, xStride, yStride, skip int) {
	half := n*4 - 64
	for i := 0; i < rows; i++ {
		s := unsafe.Add(x, half)
		x0, x1, x2, x3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		x4, x5, x6, x7 := ld(s, 0), ld(s, 16), ld(s, 32), ld(s, 48)
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			by := one(w, k*4)
			if skip != 0 && by == 0 {
				continue
			}
			r, v := unsafe.Add(y, index(cols, k)*yStride), all(by)
			z := unsafe.Add(r, half)
			y0, y1, y2, y3 := add(ld(r, 0), x0, v), add(ld(r, 16), x1, v), add(ld(r, 32), x2, v), add(ld(r, 48), x3, v)
			y4, y5, y6, y7 := add(ld(z, 0), x4, v), add(ld(z, 16), x5, v), add(ld(z, 32), x6, v), add(ld(z, 48), x7, v)
			quad(r, 32, y0, y1, y2, y3)
			quad(z, 32, y4, y5, y6, y7)
		}
		x = unsafe.Add(x, xStride)
	}
}

// Spill2 is Spill8 of rows of 4 to 8 columns.
//
//go:nosplit
func Spill2(y, x, w, offsets, cols place, rows, n, xStride, yStride, skip int) {
	half := n*4 - 16
	for i := 0; i < rows; i++ {
		x0, x1 := ld(x, 0), ld(x, half)
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			by := one(w, k*4)
			if skip != 0 && by == 0 {
				continue
			}
			r, v := unsafe.Add(y, index(cols, k)*yStride), all(by)
			z := unsafe.Add(r, half)
			y0, y1 := add(ld(r, 0), x0, v), add(ld(z, 0), x1, v)
			st(y0, r, 0)
			st(y1, z, 0)
		}
		x = unsafe.Add(x, xStride)
	}
}
