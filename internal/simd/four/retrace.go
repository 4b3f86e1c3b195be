//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"math"
	"unsafe"
)

// RetraceHeads8 is the way back of AttendHeads8, by sources: offsets and cols are those of the transpose. The record of a
// column has Σα·dα behind its two halves, and own the two halves of a node. With edges not nil each dz goes to a row of its
// own of der, which is set; that of the first node's first edge is edges[0]:
//
//	α[k,h]           = max(own[i,0,h]·far[cols[k],0,h], own[i,1,h]·far[cols[k],1,h])
//	y[i,h,:]         = (addY ? y[i,h,:] : 0) + Σ_k α·factors[k,h]·x[cols[k],h,:]
//	dz[k,h]          = α·(1 or slope, by which is larger)·(factors[k,h]·⟨x[cols[k],h,:], v[i,h,:]⟩ − Σα·dα[cols[k],h])
//	rec[i,h]         = (addRec ? rec[i,h] : 0) + Σ_k dz[k,h]
//	der[cols[k],h]  += dz[k,h]
//
// strides is the place of a RetraceStrides.
//
//go:nosplit
func RetraceHeads8(offsets, cols, factors, far, x, y, rec, own, v, der, edges, strides place, rows, down int, slope float32) {
	first, lean := offset(offsets, 0), all(slope)
	for i := 0; i < rows; i++ {
		up, low := ld(own, 0), ld(own, down)
		var s, a0, a1, a2, a3, b0, b1, b2, b3 vec
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			c := index(cols, k)
			r, f := unsafe.Add(x, c*offset(strides, 1)), unsafe.Add(far, c*offset(strides, 0))
			one, two := up.Mul(ld(f, 0)), low.Mul(ld(f, down))
			p, z := one.Max(two), one.IfElse(one.Greater(two), two.Mul(lean))
			if factors != nil {
				p = p.Mul(ld(factors, 0))
			}
			p0, p1, p2, p3 := all(p.GetElem(0)), all(p.GetElem(1)), all(p.GetElem(2)), all(p.GetElem(3))
			x0, x1, x2, x3 := ld(r, 0), ld(r, 16), ld(r, 32), ld(r, 48)
			a0, b0, a1, b1 = fused(a0, x0, p0), fused(b0, x1, p0), fused(a1, x2, p1), fused(b1, x3, p1)
			t, u := fused(x0.Mul(ld(v, 0)), x1, ld(v, 16)), fused(x2.Mul(ld(v, 32)), x3, ld(v, 48))
			x0, x1, x2, x3 = ld(r, 64), ld(r, 80), ld(r, 96), ld(r, 112)
			a2, b2, a3, b3 = fused(a2, x0, p2), fused(b2, x1, p2), fused(a3, x2, p3), fused(b3, x3, p3)
			dot := sums(t, u, fused(x0.Mul(ld(v, 64)), x1, ld(v, 80)), fused(x2.Mul(ld(v, 96)), x3, ld(v, 112)))
			if factors != nil {
				dot = dot.Mul(ld(factors, 0))
				factors = on(factors)
			}
			z = z.Mul(dot.Sub(ld(f, 2*down)))
			s = s.Add(z)
			o := unsafe.Add(der, c*offset(strides, 6))
			if edges != nil {
				o = unsafe.Add(der, index(edges, k-first)*offset(strides, 6))
			} else {
				z = z.Add(ld(o, 0))
			}
			st(z, o, 0)
		}
		if offset(strides, 7) != 0 {
			a0, b0, a1, b1 = a0.Add(ld(y, 0)), b0.Add(ld(y, 16)), a1.Add(ld(y, 32)), b1.Add(ld(y, 48))
			a2, b2, a3, b3 = a2.Add(ld(y, 64)), b2.Add(ld(y, 80)), a3.Add(ld(y, 96)), b3.Add(ld(y, 112))
		}
		quad(y, 32, a0, b0, a1, b1)
		quad(unsafe.Add(y, 64), 32, a2, b2, a3, b3)
		if offset(strides, 8) != 0 {
			s = s.Add(ld(rec, 0))
		}
		st(s, rec, 0)
		y, rec = unsafe.Add(y, offset(strides, 2)), unsafe.Add(rec, offset(strides, 3))
		own, v = unsafe.Add(own, offset(strides, 4)), unsafe.Add(v, offset(strides, 5))
	}
}

// NodePowers sets rows of y to the exponentials of four parts of logits from x, the second half down bytes after the first, and of a part
// beyond ±24 NaN. It returns 0 if there was one, and else 1:
//
//	y[i,:] = [exp(x[i,:])  exp(slope·x[i,:])]
//
//go:nosplit
func NodePowers(y, x, t place, rows, down, yStride, xStride int, slope float32) int {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	lean, bound, nan := all(slope), num(24), num(float32(math.NaN()))
	worst := vec{}
	for ; rows > 0; rows-- {
		v := ld(x, 0)
		off := bound.IfElse(v.Max(vec{}.Sub(v)).LessEqual(bound), nan).Sub(bound)
		worst = worst.Add(off)
		k, r := rest(v, l, s, m0, m1)
		q := r.Mul(r)
		st(ordinary(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Add(off), y, 0)
		k, r = rest(v.Mul(lean), l, s, m0, m1)
		q = r.Mul(r)
		st(ordinary(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Add(off), y, down)
		x, y = unsafe.Add(x, xStride), unsafe.Add(y, yStride)
	}
	if off := sum(worst); off != off {
		return 0
	}
	return 1
}
