//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// AttendHeads8 is graph attention of nodes with four heads of eight columns, by the powers of their logits'
// parts. A power's second half is down bytes after its first, in rec and in far. Where factors are not nil, they are those of a
// mask, the first of which is that of the first node's first edge:
//
//	p[k,h]   = max(rec[i,0,h]·far[cols[k],0,h], rec[i,1,h]·far[cols[k],1,h])    for offsets[i] ≤ k < offsets[i+1]
//	sum      = Σ_k p[k,h]
//	y[i,h,:] = Σ_k p[k,h]·factors[k,h]·x[cols[k],h,:] / sum + bias[h,:]
//	rec[i,h] = rec[i,h] / sum, and 0 without edges
//
//go:nosplit
func AttendHeads8(offsets, cols, far, x, y, rec, bias, factors place, rows, down, farStride, xStride, yStride, recStride int) {
	for i := 0; i < rows; i++ {
		up, low := ld(rec, 0), ld(rec, down)
		var s, a0, a1, a2, a3, b0, b1, b2, b3 vec
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			c := index(cols, k)
			r, f := unsafe.Add(x, c*xStride), unsafe.Add(far, c*farStride)
			p := up.Mul(ld(f, 0)).Max(low.Mul(ld(f, down)))
			s = s.Add(p)
			if factors != nil {
				p = p.Mul(ld(factors, 0))
				factors = on(factors)
			}
			p0, p1, p2, p3 := all(p.GetElem(0)), all(p.GetElem(1)), all(p.GetElem(2)), all(p.GetElem(3))
			a0, b0, a1, b1 = fused(a0, ld(r, 0), p0), fused(b0, ld(r, 16), p0), fused(a1, ld(r, 32), p1), fused(b1, ld(r, 48), p1)
			a2, b2, a3, b3 = fused(a2, ld(r, 64), p2), fused(b2, ld(r, 80), p2), fused(a3, ld(r, 96), p3), fused(b3, ld(r, 112), p3)
		}
		s = num(1).Div(s).Masked(s.NotEqual(vec{}))
		s0, s1, s2, s3 := all(s.GetElem(0)), all(s.GetElem(1)), all(s.GetElem(2)), all(s.GetElem(3))
		put2(y, bias, 0, a0.Mul(s0), b0.Mul(s0))
		put2(y, bias, 32, a1.Mul(s1), b1.Mul(s1))
		put2(y, bias, 64, a2.Mul(s2), b2.Mul(s2))
		put2(y, bias, 96, a3.Mul(s3), b3.Mul(s3))
		st(up.Mul(s), rec, 0)
		st(low.Mul(s), rec, down)
		y, rec = unsafe.Add(y, yStride), unsafe.Add(rec, recStride)
	}
}

// put2 sets eight columns, with a bias.
func put2(y, bias place, at int, a, b vec) {
	st(a.Add(ld(bias, at)), y, at)
	st(b.Add(ld(bias, at+16)), y, at+16)
}

// AttendOne is AttendHeads8 of one head of 1 to 8 columns, whose power's halves are side by side. There are four
// factors an edge, of which the first counts.
//
//go:nosplit
func AttendOne(offsets, cols, far, x, y, rec, factors place, rows, n, farStride, xStride, yStride, recStride int) {
	last := n*4 - 16
	for i := 0; i < rows; i++ {
		up, low := all(one(rec, 0)), all(one(rec, 4))
		var s, a, b vec
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			c := index(cols, k)
			r, f := unsafe.Add(x, c*xStride), unsafe.Add(far, c*farStride)
			p := up.Mul(all(one(f, 0))).Max(low.Mul(all(one(f, 4))))
			s = s.Add(p)
			if factors != nil {
				p = p.Mul(all(one(factors, 0)))
				factors = on(factors)
			}
			if last < 0 {
				a = fused(a, get(r, n), p)
				continue
			}
			a, b = fused(a, ld(r, 0), p), fused(b, ld(r, last), p)
		}
		s = num(1).Div(s).Masked(s.NotEqual(vec{}))
		if last < 0 {
			set(a.Mul(s), y, n)
		} else {
			st(a.Mul(s), y, 0)
			st(b.Mul(s), y, last)
		}
		put(up.Mul(s).GetElem(0), rec, 0)
		put(low.Mul(s).GetElem(0), rec, 4)
		y, rec = unsafe.Add(y, yStride), unsafe.Add(rec, recStride)
	}
}
