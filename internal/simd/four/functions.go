//go:build goexperiment.simd && !noasm && !f64

package four

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
