package main

import "math"

// GELU is x·Φ(x) of the normal distribution. With a = |x|, Φ(−a) is e^(−a²/2)
// times a function that falls slowly, a polynomial of u = 1/(1 + 0.4·a) times u,
// right to 4e-8 for a up to where Φ(−a) is zero in 32 bits.
var tail = []float64{0.0324579503, -0.178196906, 0.385659249, -0.378569952, 0.123246733, -0.0288062258, 0.0919807404,
	0.133011879, 0.159641256, 0.159575281}

// normal returns a, at most 14.7, and Φ(−a) and e^(−a²/2), both times 2⁶⁴.
func normal(x vec) (a, phi, e vec) {
	a = lower(get(num(14.7)), magnitude(x))
	square := mul(a, a)
	lost := minus(sub(square, num(0)), a, a) // what the square lacks, of the other sign
	t, p := powers(mul(square, num(-0.5)))
	p = plus(p, mul(p, lost), num(0.5))
	e = mul(p, powerOf2(t, 64))
	u := div(get(num(1)), plus(get(num(1)), a, num(0.4)))
	return a, mul(mul(horner(u, tail...), u), e), e
}

// gelu is max(x, 0) − a·Φ(−a).
func gelu(x vec) vec {
	a, phi, _ := normal(x)
	return minus(higher(get(num(0)), x), mul(a, phi), num(0x1p-64))
}

// geluSlope is Φ(x) + x·e^(−x²/2)/√(2π).
func geluSlope(x vec) vec {
	a, phi, e := normal(x)
	density := mul(mul(a, e), num(1/math.Sqrt(2*math.Pi)))
	less := mul(sub(phi, density), num(0x1p-64)) // the slope at −a; that at a is 1 − it
	return pick(x, less, sub(get(num(1)), less))
}

// The tanh form of GELU is x·sigmoid(z) with z = x·(k + k·0.044715·x²).
var (
	gain1 = 2 * math.Sqrt(2/math.Pi)
	gain3 = gain1 * 0.044715
)

func inner(x vec) vec { return mul(horner(mul(x, x), gain3, gain1), x) }

// within is x, at most 15 and at least −15: the slopes beyond are those there.
func within(x vec) vec { return higher(get(num(-15)), lower(get(num(15)), x)) }

// geluTanhSlope is s + x·z'·s·(1−s) of a sigmoid s(z), and 1 − s.
func geluTanhSlope(x, s, lacks vec) vec {
	dz := mul(horner(mul(x, x), 3*gain3, gain1), x)
	return plus(s, mul(dz, s), lacks)
}
