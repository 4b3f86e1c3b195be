//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

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
