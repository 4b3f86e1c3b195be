package main

import "math"

// The exponential of z = n·log 2 + r with an integer n and |r| ≤ log 2 / 2 is 2ⁿ
// times a polynomial of r, which is right to 1.1e-8. What rounds z/log 2 to n is
// that shifter is so large that its last bit is 1; n is in the low bits of the
// sum, so a shift brings it to the place of the exponent.

const (
	shifter     = 0x1.8p23
	shifterBits = 0x4b400000
)

// coefficients of (e^r − 1 − r)/r², the highest power's first.
var exponential = []float64{0.001392625083186576, 0.008363232883685949, 0.041666554212978844, 0.16666576666119892, 0.5}

// rest returns shifter + n, and r.
func rest(z vec) (t, r vec) {
	t = get(num(math.Log2E))
	t = mulAdd(t, z, num(shifter))
	n := sub(t, num(shifter))
	r = get(num(-0.693359375))
	r = mulAdd(r, n, z)
	return t, minus(r, n, num(-2.12194440e-4))
}

// powers returns shifter + n, and e^r.
func powers(z vec) (t, p vec) {
	t, r := rest(z)
	p = horner(r, exponential...)
	p = mulAdd(p, r, num(1))
	return t, mulAdd(p, r, num(1))
}

// powersOfMinus is powers of −z.
func powersOfMinus(z vec) (t, p vec) {
	t = get(num(-math.Log2E))
	t = mulAdd(t, z, num(shifter))
	n := sub(t, num(shifter))
	r := get(num(0.693359375))
	r = mulAdd(r, n, z)
	r = plus(r, n, num(-2.12194440e-4)) // of the other sign
	odd := make([]float64, len(exponential))
	for i, c := range exponential {
		odd[i] = c * float64(1-2*((len(odd)-1-i)%2))
	}
	p = horner(r, odd...)
	p = mulAdd(p, r, num(-1))
	return t, mulAdd(p, r, num(1))
}

// times is p·2ⁿ of t = shifter + n, where that is a normal number.
func times(p, t vec) vec { return addInt(p, left(t, 23)) }

// powerOf2 is 2ⁿ⁺ᵇ of t = shifter + n.
func powerOf2(t vec, b int) vec { return addInt(left(t, 23), wide(uint32(127+b)<<23)) }

// ordinary is how large an argument may be for its exponential, and the inverse
// of that, to be normal.
const ordinary = 87

// notOrdinary is all ones where x is larger than that, or NaN.
func notOrdinary(x vec) vec { return compare(notLE, magnitude(x), num(ordinary)) }

// expOrdinary is eˣ, if x is.
func expOrdinary(x vec) vec {
	t, p := powers(x)
	return times(p, t)
}

// exp is eˣ. Its scale is applied in two steps, so that denormal results are
// right and too large ones infinite.
func exp(x vec) vec {
	z := lower(get(num(89)), x)
	z = higher(get(num(-104)), z)
	t, p := powers(z)
	s, rest := twoPowers(t)
	return mul(mul(p, s), rest)
}

// twoPowers are two numbers whose product is 2ⁿ, of t = shifter + n.
func twoPowers(t vec) (s, rest vec) {
	n := subInt(t, wide(shifterBits))
	half := rightSign(n, 1)
	return powerOf2(half, 0), powerOf2(subInt(n, half), 0)
}

// expDown is eˣ for x ≤ 0 or NaN.
func expDown(x vec) vec {
	t, p := powers(higher(get(num(-104)), x))
	return mul(mul(p, powerOf2(t, 64)), num(0x1p-64))
}

// expMinus1 is eˣ − 1 for x ≤ 0 or NaN, as exact near 0 as x.
func expMinus1(x vec) vec {
	t, r := rest(higher(get(num(-87)), x))
	q := horner(r, exponential...)
	q = mulAdd(q, mul(r, r), r)
	s := powerOf2(t, 0)
	return mulAdd(q, s, sub(s, num(1)))
}

// sigmoidOrdinary is 1/(1 + e) and e = e⁻ˣ, if x is ordinary.
func sigmoidOrdinary(x vec) (s, e vec) {
	t, p := powersOfMinus(x)
	e = times(p, t)
	return div(get(num(1)), add(e, num(1))), e
}

// sigmoid is 1/(1 + e⁻ˣ) of any x, by the exponential of −|x|, which never
// overflows, and 1 − that.
func sigmoid(x vec) (s, lacks vec) {
	e := expDown(or(x, wide(signBit)))
	s = div(get(num(1)), add(e, num(1)))
	small := mul(s, e)
	return pick(x, small, s), pick(x, s, small)
}

// tanhOver and tanhUnder are polynomials of x², the highest power's coefficient
// first: x·over/under is tanh x within 3.1e-7 of it, at most 1, and x near 0. At
// tanhEnd it comes to 1, which is within 1.6e-7 of all further ones.
var (
	tanhOver  = []float64{1.34169582e-08, 2.06592522e-05, 0.00349887903, 0.133838847, 1}
	tanhUnder = []float64{7.8035805e-07, 0.0003290842, 0.0258897692, 0.467172086, 1}
)

const tanhEnd = 8.176332

// tanh is a quotient of polynomials, which keeps the sign of zero and NaN.
func tanh(x vec) vec {
	x = higher(get(num(-tanhEnd)), lower(get(num(tanhEnd)), x))
	z := mul(x, x)
	over := mul(horner(z, tanhOver...), x)
	return div(over, horner(z, tanhUnder...))
}

// weighedTail is x·sigmoid(z) where |z| is large: x·e^z where z is negative,
// else x. x and z have the same sign.
func weighedTail(x, z vec) vec {
	t, p := powers(lower(get(num(0)), higher(get(num(-120)), z)))
	s, rest := twoPowers(t)
	y := mul(mul(mul(p, s), higher(get(num(-1e4)), x)), rest)
	return pick(z, y, x)
}
