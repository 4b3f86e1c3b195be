//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Scale sets y to c·x, for n elements. y may be x.
//
//go:nosplit
func Scale(y, x place, n int, c float32) {
	by := all(c)
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		quad(y, 32, v0.Mul(by), v1.Mul(by), v2.Mul(by), v3.Mul(by))
		y, x = unsafe.Add(y, 64), unsafe.Add(x, 64)
	}
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(v.Mul(by), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		set(v.Mul(by), y, n)
	}
}

// Shift sets y to x + c, for n elements. y may be x.
//
//go:nosplit
func Shift(y, x place, n int, c float32) {
	by := all(c)
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		quad(y, 32, v0.Add(by), v1.Add(by), v2.Add(by), v3.Add(by))
		y, x = unsafe.Add(y, 64), unsafe.Add(x, 64)
	}
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(v.Add(by), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		set(v.Add(by), y, n)
	}
}

// LeakyReLU sets y to x where x > 0, else c·x, for n elements. y may be x.
//
//go:nosplit
func LeakyReLU(y, x place, n int, c float32) {
	by := all(c)
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		quad(y, 32, leaky(v0, v0, v0.Mul(by)), leaky(v1, v1, v1.Mul(by)), leaky(v2, v2, v2.Mul(by)), leaky(v3, v3, v3.Mul(by)))
		y, x = unsafe.Add(y, 64), unsafe.Add(x, 64)
	}
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(leaky(v, v, v.Mul(by)), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		set(leaky(v, v, v.Mul(by)), y, n)
	}
}

// ELU sets y to x where x > 0, else c·(eˣ − 1), for n elements. y may be x.
//
//go:nosplit
func ELU(y, x, t place, n int, c float32) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	low := ld(t, below)
	by := all(c)
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		k, r := rest(v.Min(vec{}).Max(low), l, s, m0, m1)
		q := r.Mul(r)
		st(leaky(v, v, lessOne(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Mul(by)), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		k, r := rest(v.Min(vec{}).Max(low), l, s, m0, m1)
		q := r.Mul(r)
		set(leaky(v, v, lessOne(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Mul(by)), y, n)
	}
}

// Sigmoid sets y to 1/(1 + e⁻ˣ), for n elements. y may be x.
//
//go:nosplit
func Sigmoid(y, x, t place, n int) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, lo := ld(t, half), ld(t, least)
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		k, r := rest(v.Min(vec{}.Sub(v)).Max(lo), l, s, m0, m1)
		q := r.Mul(r)
		st(share(v, raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t), u), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		k, r := rest(v.Min(vec{}.Sub(v)).Max(lo), l, s, m0, m1)
		q := r.Mul(r)
		set(share(v, raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t), u), y, n)
	}
}

// Tanh sets y to tanh x, for n elements. y may be x.
//
//go:nosplit
func Tanh(y, x, t place, n int) {
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(tanh(v, t), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		set(tanh(v, t), y, n)
	}
}

// Exp sets y to eˣ, for n elements. y may be x.
//
//go:nosplit
func Exp(y, x, t place, n int) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, lo, hi := ld(t, half), ld(t, least), ld(t, most)
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		k, r := rest(v.Max(lo).Min(hi), l, s, m0, m1)
		q := r.Mul(r)
		st(raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		k, r := rest(v.Max(lo).Min(hi), l, s, m0, m1)
		q := r.Mul(r)
		set(raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t), y, n)
	}
}

// Sqrt sets y to √x, for n elements. y may be x.
//
//go:nosplit
func Sqrt(y, x place, n int) {
	for ; n >= 4; n -= 4 {
		st(ld(x, 0).Sqrt(), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		set(get(x, n).Sqrt(), y, n)
	}
}

// The exponential of x is that of n·log 2 and of r, two factors. Constants that are more than added to are given
// in registers, by the names of the table's: l for log2e, s for shifter, m0 and m1 for −log 2, and so on.

// rest is n and r of z = n·log 2 + r.
func rest(z, l, s, m0, m1 vec) (n, r vec) {
	n = fused(s, z, l).Sub(s)
	return n, fused(fused(z, n, m0), n, m1)
}

// series is (e^r − 1 − r)/r², of q = r².
func series(r, q, p0, p1, p3 vec, t place) vec {
	high := fused(fused(ld(t, power2), p1, r), p0, q)
	return fused(fused(ld(t, half), p3, r), high, q)
}

// power is 2ⁿ of a whole n from −126 to 127.
func power(n, e vec, t place) vec {
	return fused(ld(t, bias), n, e).ConvertToInt32().ToBits().BitsToFloat32()
}

// risen is e^r, rounded once but for what the series lost: with 1 + r first the errors of a part of the arguments have one sign.
func risen(p, q, r, u vec) vec { return u.Add(fused(r, p, q)) }

// raised is eˣ of a series p. Its scale is applied in two steps, so that results next to 0 are right and too large ones infinite.
func raised(p, q, r, n, u, e, s, h vec, t place) vec {
	k := fused(s, n, h).Sub(s)
	return risen(p, q, r, u).Mul(power(k, e, t)).Mul(power(n.Sub(k), e, t))
}

// ordinary is raised of an x from −87 to 87.
func ordinary(p, q, r, n, u, e vec, t place) vec { return risen(p, q, r, u).Mul(power(n, e, t)) }

// lessOne is eˣ − 1 of x from −87 to 0, as exact near 0 as x.
func lessOne(p, q, r, n, u, e vec, t place) vec {
	k := power(n, e, t)
	return fused(k.Sub(u), fused(r, p, q), k)
}

// share is 1/(1 + e⁻ˣ) of x and e = exp(−|x|), which never overflows.
func share(x, e, u vec) vec {
	s := u.Div(u.Add(e))
	return leaky(x, s, s.Mul(e))
}

// tanh is a quotient of polynomials, within 3.5e-7 of it and never beyond 1.
func tanh(x vec, t place) vec {
	x = x.Max(ld(t, minusEnd)).Min(ld(t, tanhEnd))
	z := x.Mul(x)
	p := fused(ld(t, over1), ld(t, over0), z)
	p = fused(ld(t, over2), p, z)
	p = fused(ld(t, over3), p, z)
	p = fused(ld(t, unit), p, z)
	q := fused(ld(t, under1), ld(t, under0), z)
	q = fused(ld(t, under2), q, z)
	q = fused(ld(t, under3), q, z)
	q = fused(ld(t, unit), q, z)
	return p.Mul(x).Div(q)
}

// leaky is y where x > 0, else z.
func leaky(x, y, z vec) vec { return y.IfElse(x.Greater(vec{}), z) }
