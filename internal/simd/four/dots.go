//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// EdgeDots takes inner products of n columns for nonzeros and heads, whose columns are yStep and xStep
// apart in rows of y and x. Numbers of a nonzero have zStride bytes:
//
//	z[k,h] = (set ? 0 : z[k,h]) + ⟨y[i,h,:], x[cols[k],h,:]⟩    for offsets[i], from ≤ k < offsets[i+1], to
//
//go:nosplit
func EdgeDots(z, y, x, offsets, cols place, rows, heads, n, zStride, yStep, xStep, yStride, xStride, from, to, set int) {
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		for ; k < end; k++ {
			p, q, o := y, unsafe.Add(x, index(cols, k)*xStride), unsafe.Add(z, k*zStride)
			for h := heads; h > 0; h-- {
				var a0, a1, a2, a3 vec
				u, v, j := p, q, n
				for ; j >= 16; j -= 16 {
					a0, a1 = fused(a0, ld(u, 0), ld(v, 0)), fused(a1, ld(u, 16), ld(v, 16))
					a2, a3 = fused(a2, ld(u, 32), ld(v, 32)), fused(a3, ld(u, 48), ld(v, 48))
					u, v = unsafe.Add(u, 64), unsafe.Add(v, 64)
				}
				for ; j >= 4; j -= 4 {
					a0 = fused(a0, ld(u, 0), ld(v, 0))
					u, v = on(u), on(v)
				}
				s := sum(a0.Add(a1).Add(a2.Add(a3)))
				for ; j > 0; j-- {
					s += one(u, 0) * one(v, 0)
					u, v = unsafe.Add(u, 4), unsafe.Add(v, 4)
				}
				if set == 0 {
					s += one(o, 0)
				}
				put(s, o, 0)
				p, q, o = unsafe.Add(p, yStep), unsafe.Add(q, xStep), unsafe.Add(o, 4)
			}
		}
		y = unsafe.Add(y, yStride)
	}
}

// EdgeDots8 is EdgeDots of four heads of eight columns, side by side.
//
//go:nosplit
func EdgeDots8(z, y, x, offsets, cols place, rows, zStride, yStride, xStride, from, to, set int) {
	for i := 0; i < rows; i++ {
		k, end := max(offset(offsets, i), from), min(offset(offsets, i+1), to)
		y0, y1, y2, y3 := ld(y, 0), ld(y, 16), ld(y, 32), ld(y, 48)
		y4, y5, y6, y7 := ld(y, 64), ld(y, 80), ld(y, 96), ld(y, 112)
		for ; k < end; k++ {
			r, o := unsafe.Add(x, index(cols, k)*xStride), unsafe.Add(z, k*zStride)
			a, b := fused(ld(r, 0).Mul(y0), ld(r, 16), y1), fused(ld(r, 32).Mul(y2), ld(r, 48), y3)
			c, d := fused(ld(r, 64).Mul(y4), ld(r, 80), y5), fused(ld(r, 96).Mul(y6), ld(r, 112), y7)
			s := sums(a, b, c, d)
			if set == 0 {
				s = s.Add(ld(o, 0))
			}
			st(s, o, 0)
		}
		y = unsafe.Add(y, yStride)
	}
}

// Dot is the inner product of n elements.
//
//go:nosplit
func Dot(x, y place, n int) float32 {
	var a0, a1, a2, a3 vec
	for ; n >= 16; n -= 16 {
		a0, a1 = fused(a0, ld(x, 0), ld(y, 0)), fused(a1, ld(x, 16), ld(y, 16))
		a2, a3 = fused(a2, ld(x, 32), ld(y, 32)), fused(a3, ld(x, 48), ld(y, 48))
		x, y = unsafe.Add(x, 64), unsafe.Add(y, 64)
	}
	for ; n >= 4; n -= 4 {
		a0 = fused(a0, ld(x, 0), ld(y, 0))
		x, y = on(x), on(y)
	}
	s := sum(a0.Add(a1).Add(a2.Add(a3)))
	for ; n > 0; n-- {
		s += one(x, 0) * one(y, 0)
		x, y = unsafe.Add(x, 4), unsafe.Add(y, 4)
	}
	return s
}

// Sum is the sum of n elements.
//
//go:nosplit
func Sum(x place, n int) float32 {
	var a0, a1, a2, a3 vec
	for ; n >= 16; n -= 16 {
		a0, a1, a2, a3 = a0.Add(ld(x, 0)), a1.Add(ld(x, 16)), a2.Add(ld(x, 32)), a3.Add(ld(x, 48))
		x = unsafe.Add(x, 64)
	}
	for ; n >= 4; n -= 4 {
		a0 = a0.Add(ld(x, 0))
		x = on(x)
	}
	s := sum(a0.Add(a1).Add(a2.Add(a3)))
	for ; n > 0; n-- {
		s += one(x, 0)
		x = unsafe.Add(x, 4)
	}
	return s
}
