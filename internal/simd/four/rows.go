//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

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

// RowsSum16 adds up rows of x of 32 to 64 columns, each times its weight, which is that of
// its number k where edges is nil:
//
//	y[i,j] = (set ? 0 : y[i,j]) + Σ_k w[edges[k]]·x[cols[k],j]    for offsets[i], from ≤ k < offsets[i+1], to
//
// in the order of k, every product rounded. The columns of the two halves may overlap.
//
//go:nosplit
func RowsSum16(y, x, w, offsets, cols, edges place, rows, n, xStride, yStride, wStride, from, to, set int) {
	half := n*4 - 128
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		z := unsafe.Add(y, half)
		var a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3 vec
		if set == 0 {
			a0, a1, a2, a3 = ld(y, 0), ld(y, 16), ld(y, 32), ld(y, 48)
			b0, b1, b2, b3 = ld(y, 64), ld(y, 80), ld(y, 96), ld(y, 112)
			c0, c1, c2, c3 = ld(z, 0), ld(z, 16), ld(z, 32), ld(z, 48)
			d0, d1, d2, d3 = ld(z, 64), ld(z, 80), ld(z, 96), ld(z, 112)
		} else {
			a0 = archsimd.BroadcastUint32x4(uint32(n >> 40)).BitsToFloat32() // zeros, which no register is kept for as for a constant
			a1, a2, a3, b0, b1, b2, b3 = a0, a0, a0, a0, a0, a0, a0
			c0, c1, c2, c3, d0, d1, d2, d3 = a0, a0, a0, a0, a0, a0, a0, a0
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			e := k
			if edges != nil {
				e = index(edges, k)
			}
			v := all(one(w, e*wStride))
			a0, a1, a2, a3 = add(a0, ld(r, 0), v), add(a1, ld(r, 16), v), add(a2, ld(r, 32), v), add(a3, ld(r, 48), v)
			b0, b1, b2, b3 = add(b0, ld(r, 64), v), add(b1, ld(r, 80), v), add(b2, ld(r, 96), v), add(b3, ld(r, 112), v)
			if half > 0 { // a block of its own, so that no more than half of the row is loaded at once
				s := unsafe.Add(r, half)
				c0, c1, c2, c3 = add(c0, ld(s, 0), v), add(c1, ld(s, 16), v), add(c2, ld(s, 32), v), add(c3, ld(s, 48), v)
				d0, d1, d2, d3 = add(d0, ld(s, 64), v), add(d1, ld(s, 80), v), add(d2, ld(s, 96), v), add(d3, ld(s, 112), v)
			}
		}
		quad(y, 32, a0, a1, a2, a3)
		quad(unsafe.Add(y, 64), 32, b0, b1, b2, b3)
		if half > 0 {
			quad(z, 32, c0, c1, c2, c3)
			quad(unsafe.Add(z, 64), 32, d0, d1, d2, d3)
		}
		y = unsafe.Add(y, yStride)
	}
}

// RowsAdd16 is RowsSum16 without weights.
//
//go:nosplit
func RowsAdd16(y, x, offsets, cols place, rows, n, xStride, yStride, from, to, set int) {
	half := n*4 - 128
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		z := unsafe.Add(y, half)
		var a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3 vec
		if set == 0 {
			a0, a1, a2, a3 = ld(y, 0), ld(y, 16), ld(y, 32), ld(y, 48)
			b0, b1, b2, b3 = ld(y, 64), ld(y, 80), ld(y, 96), ld(y, 112)
			c0, c1, c2, c3 = ld(z, 0), ld(z, 16), ld(z, 32), ld(z, 48)
			d0, d1, d2, d3 = ld(z, 64), ld(z, 80), ld(z, 96), ld(z, 112)
		}
		for ; k < end; k++ {
			r := unsafe.Add(x, index(cols, k)*xStride)
			a0, a1, a2, a3 = a0.Add(ld(r, 0)), a1.Add(ld(r, 16)), a2.Add(ld(r, 32)), a3.Add(ld(r, 48))
			b0, b1, b2, b3 = b0.Add(ld(r, 64)), b1.Add(ld(r, 80)), b2.Add(ld(r, 96)), b3.Add(ld(r, 112))
			if half > 0 { // a block of its own, so that no more than half of the row is loaded at once
				s := unsafe.Add(r, half)
				c0, c1, c2, c3 = c0.Add(ld(s, 0)), c1.Add(ld(s, 16)), c2.Add(ld(s, 32)), c3.Add(ld(s, 48))
				d0, d1, d2, d3 = d0.Add(ld(s, 64)), d1.Add(ld(s, 80)), d2.Add(ld(s, 96)), d3.Add(ld(s, 112))
			}
		}
		quad(y, 32, a0, a1, a2, a3)
		quad(unsafe.Add(y, 64), 32, b0, b1, b2, b3)
		if half > 0 {
			quad(z, 32, c0, c1, c2, c3)
			quad(unsafe.Add(z, 64), 32, d0, d1, d2, d3)
		}
		y = unsafe.Add(y, yStride)
	}
}
