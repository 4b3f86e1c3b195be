//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// ReLU sets y to max(x, 0), for n elements. y may be x.
//
//go:nosplit
func ReLU(y, x place, n int) {
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		quad(y, 32, v0.Max(vec{}), v1.Max(vec{}), v2.Max(vec{}), v3.Max(vec{}))
		y, x = unsafe.Add(y, 64), unsafe.Add(x, 64)
	}
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(v.Max(vec{}), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		set(get(x, n).Max(vec{}), y, n)
	}
}

// ReLUSlope sets dx to dy where x > 0, else 0, for n elements, or with add adds that to it.
//
//go:nosplit
func ReLUSlope(dx, dy, x place, n, add int) {
	for ; n >= 4; n -= 4 {
		g := ld(dy, 0).Masked(ld(x, 0).Greater(vec{}))
		if add != 0 {
			g = g.Add(ld(dx, 0))
		}
		st(g, dx, 0)
		dx, dy, x = on(dx), on(dy), on(x)
	}
	if n > 0 {
		g := get(dy, n).Masked(get(x, n).Greater(vec{}))
		if add != 0 {
			g = g.Add(get(dx, n))
		}
		set(g, dx, n)
	}
}

// farthest is the argument beyond which x·sigmoid(x) and its slope are what they are there.
const farthest = 150

// steep is z = x·(a + b·x²), and −|z|, of an x that is as large at most.
func steep(x, a, b, low vec) (z, down vec) {
	z = fused(a, x.Mul(x), b).Mul(x)
	return z, z.Min(vec{}.Sub(z)).Max(low)
}

// Weighed sets y to x·sigmoid(x·(a + b·x²)), for n elements, a multiple of four: SiLU, and the tanh form of GELU. y may be x.
//
//go:nosplit
func Weighed(y, x, t place, n int, a, b float32) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, far, low, at, by := ld(t, half), num(farthest), num(-farthest), all(a), all(b)
	for ; n > 0; n -= 4 {
		v := ld(x, 0).Max(low) // the limit at −∞ is 0
		z, down := steep(v.Min(far), at, by, low)
		k, r := rest(down, l, s, m0, m1)
		q := r.Mul(r)
		part := fused(s, k, h).Sub(s)
		w := risen(series(r, q, p0, p1, p3, t), q, r, u).Mul(power(part, e, t))
		last := power(k.Sub(part), e, t) // after x, so that no bits are lost next to the smallest numbers
		st(leaky(z, v, v.Mul(w).Mul(last)).Div(u.Add(w.Mul(last))), y, 0)
		y, x = on(y), on(x)
	}
}

// WeighedSlope sets dx to dy times the slope of what Weighed does at x, for n elements as there, or with add adds that to it. Beyond end it is
// that at end; at ∞ it is NaN if that is the end.
//
//go:nosplit
func WeighedSlope(dx, dy, x, t place, n, add int, a, b, end float32) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, far, low, last, at, by, thrice := ld(t, half), num(farthest), num(-farthest), all(end), all(a), all(b), num(3)
	for ; n > 0; n -= 4 {
		v := ld(x, 0).Max(low).Min(last)
		c := v.Min(far)
		z, down := steep(c, at, by, low)
		k, r := rest(down, l, s, m0, m1)
		q := r.Mul(r)
		w := raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t)
		more := u.Div(u.Add(w))
		less := more.Mul(w)
		bend := fused(at, c.Mul(c).Mul(by), thrice).Mul(v)
		g := ld(dy, 0).Mul(fused(leaky(z, more, less), bend, more.Mul(less)))
		if add != 0 {
			g = g.Add(ld(dx, 0))
		}
		st(g, dx, 0)
		dx, dy, x = on(dx), on(dy), on(x)
	}
}
