//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// The kernels here take eight numbers of each edge, those of heads, one edge after the other from that of offsets[0] on. A record
// has eight numbers, too: that of edge k is number cols[k], or where cols is nil number i for offsets[i] ≤ k < offsets[i+1].

// DotWeights sets scores z to weights, by records of the largest scores and, behind these, of what weights are multiplied with:
//
//	z = exp(z − rec[0])·rec[1], 0 where z − rec[0] ≤ low, which is from −87 to 0
//
//go:nosplit
func DotWeights(z, rec, offsets, cols, t place, rows, stride int, low float32) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	lo, floor := all(low), num(-maxFloat)
	var none vec
	for i := 0; i < rows; i++ {
		own := unsafe.Add(rec, i*stride)
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			c := own
			if cols != nil {
				c = unsafe.Add(rec, index(cols, k)*stride)
			}
			for half := 2; half > 0; half-- {
				v, most := ld(z, 0), ld(c, 0).Max(floor)
				d := none.IfElse(v.Equal(most), v.Sub(most)).Max(lo) // as in WeighRows
				k, r := rest(d, l, s, m0, m1)
				q := r.Mul(r)
				v = ordinary(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Mul(ld(c, 32))
				st(none.IfElse(d.Equal(lo), v), z, 0)
				z, c = on(z), on(c)
			}
		}
	}
}

// DotCenters sets records of nodes that have edges to the sums of products of the edges' numbers:
//
//	rec[i] = Σ_k z[k]·dz[k]
//
//go:nosplit
func DotCenters(rec, z, dz, offsets place, rows, stride int) {
	for i := 0; i < rows; i++ {
		n := offset(offsets, i+1) - offset(offsets, i)
		if n > 0 {
			var a, b vec
			for ; n > 0; n-- {
				a, b = fused(a, ld(z, 0), ld(dz, 0)), fused(b, ld(z, 16), ld(dz, 16))
				z, dz = unsafe.Add(z, 32), unsafe.Add(dz, 32)
			}
			st(a, rec, 0)
			st(b, rec, 16)
		}
		rec = unsafe.Add(rec, stride)
	}
}

// DotSlopes sets dz to the gradients of scores, from those of the weights z and records of their centers:
//
//	dz = z·(dz − rec)·scale
//
//go:nosplit
func DotSlopes(dz, z, rec, offsets, cols place, rows, stride int, scale float32) {
	by := all(scale)
	for i := 0; i < rows; i++ {
		c := unsafe.Add(rec, i*stride)
		for k := offset(offsets, i); k < offset(offsets, i+1); k++ {
			if cols != nil {
				c = unsafe.Add(rec, index(cols, k)*stride)
			}
			a, b := ld(dz, 0).Sub(ld(c, 0)).Mul(ld(z, 0)), ld(dz, 16).Sub(ld(c, 16)).Mul(ld(z, 16))
			st(a.Mul(by), dz, 0)
			st(b.Mul(by), dz, 16)
			dz, z = unsafe.Add(dz, 32), unsafe.Add(z, 32)
		}
	}
}

// Gathered sets rows of n numbers, four or eight, to those that columns name, and adds near unless it is nil:
//
//	to[k,:] = far[cols[k],:] + near
//
//go:nosplit
func Gathered(to, far, near, cols place, rows, n, stride int) {
	for k := 0; k < rows; k++ {
		r, p := unsafe.Add(far, index(cols, k)*stride), near
		for j := n; j > 0; j -= 4 {
			v := ld(r, 0)
			if p != nil {
				v = v.Add(ld(p, 0))
				p = on(p)
			}
			st(v, to, 0)
			to, r = on(to), on(r)
		}
	}
}

// Scored sets the gradients dz of edges' scores, of n numbers each, four or eight, and adds them up: to rec for all, and to the
// rows of der that a list names, which without add are set:
//
//	dz[k,:] = t[k,:]·dz[k,:] − b[k,:]    rec[:] = Σ_k dz[k,:]    der[list[k],:] = (add ? der[list[k],:] : 0) + dz[k,:]
//
//go:nosplit
func Scored(dz, t, b, der, rec, list place, edges, n, stride, add int) {
	step := n * 4
	for ; n > 0; n -= 4 {
		var a vec
		for k := 0; k < edges; k++ {
			at, o := k*step, unsafe.Add(der, index(list, k)*stride)
			v := ld(t, at).Mul(ld(dz, at)).Sub(ld(b, at))
			st(v, dz, at)
			a = a.Add(v)
			if add != 0 {
				v = v.Add(ld(o, 0))
			}
			st(v, o, 0)
		}
		st(a, rec, 0)
		dz, t, b, der, rec = on(dz), on(t), on(b), on(der), on(rec)
	}
}
