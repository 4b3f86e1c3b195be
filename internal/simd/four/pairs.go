//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// DotPairs8 sets the inner products of rows with two others, of four heads of eight columns, side by side:
//
//	l[i,h] = ⟨x[i,h,:], a[h,:]⟩    r[i,h] = ⟨x[i,h,:], b[h,:]⟩
//
// Rows of l and r are stride bytes apart.
//
//go:nosplit
func DotPairs8(l, r, x, a, b place, rows, stride, xStride int) {
	a0, a1, a2, a3, a4, a5, a6, a7 := ld(a, 0), ld(a, 16), ld(a, 32), ld(a, 48), ld(a, 64), ld(a, 80), ld(a, 96), ld(a, 112)
	for ; rows > 0; rows-- {
		x0, x1, x2, x3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		s, t := fused(x0.Mul(a0), x1, a1), fused(x2.Mul(a2), x3, a3)
		u, v := fused(x0.Mul(ld(b, 0)), x1, ld(b, 16)), fused(x2.Mul(ld(b, 32)), x3, ld(b, 48))
		x0, x1, x2, x3 = ld(x, 64), ld(x, 80), ld(x, 96), ld(x, 112)
		st(sums(s, t, fused(x0.Mul(a4), x1, a5), fused(x2.Mul(a6), x3, a7)), l, 0)
		st(sums(u, v, fused(x0.Mul(ld(b, 64)), x1, ld(b, 80)), fused(x2.Mul(ld(b, 96)), x3, ld(b, 112))), r, 0)
		l, r, x = unsafe.Add(l, stride), unsafe.Add(r, stride), unsafe.Add(x, xStride)
	}
}
