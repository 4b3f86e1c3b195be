package asm

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
var Exponential = []float64{0.001392625083186576, 0.008363232883685949, 0.041666554212978844, 0.16666576666119892, 0.5}

// rest returns shifter + n, and r.
func rest(z Vec) (t, r Vec) {
	t = Get(Num(math.Log2E))
	t = MulAdd(t, z, Num(shifter))
	n := Sub(t, Num(shifter))
	r = Get(Num(-0.693359375))
	r = MulAdd(r, n, z)
	return t, Minus(r, n, Num(-2.12194440e-4))
}

// Powers returns shifter + n, and e^r.
func Powers(z Vec) (t, p Vec) {
	t, r := rest(z)
	p = Horner(r, Exponential...)
	p = MulAdd(p, r, Num(1))
	return t, MulAdd(p, r, Num(1))
}

// powersOfMinus is Powers of −z.
func powersOfMinus(z Vec) (t, p Vec) {
	t = Get(Num(-math.Log2E))
	t = MulAdd(t, z, Num(shifter))
	n := Sub(t, Num(shifter))
	r := Get(Num(0.693359375))
	r = MulAdd(r, n, z)
	r = Plus(r, n, Num(-2.12194440e-4)) // of the other sign
	odd := make([]float64, len(Exponential))
	for i, c := range Exponential {
		odd[i] = c * float64(1-2*((len(odd)-1-i)%2))
	}
	p = Horner(r, odd...)
	p = MulAdd(p, r, Num(-1))
	return t, MulAdd(p, r, Num(1))
}

// times is p·2ⁿ of t = shifter + n, where that is a normal number.
func times(p, t Vec) Vec { return AddInt(p, Left(t, 23)) }

// PowerOf2 is 2ⁿ⁺ᵇ of t = shifter + n.
func PowerOf2(t Vec, b int) Vec { return AddInt(Left(t, 23), Wide(uint32(127+b)<<23)) }

// ordinary is how large an argument may be for its exponential, and the inverse
// of that, to be normal.
const ordinary = 87

// NotOrdinary is all ones where x is larger than that, or NaN.
func NotOrdinary(x Vec) Vec { return Compare(NotLE, Magnitude(x), Num(ordinary)) }

// ExpOrdinary is eˣ, if x is.
func ExpOrdinary(x Vec) Vec {
	t, p := Powers(x)
	return times(p, t)
}

// Exp is eˣ. Its scale is applied in two steps, so that denormal results are
// right and too large ones infinite.
func Exp(x Vec) Vec {
	z := Lower(Get(Num(89)), x)
	z = Higher(Get(Num(-104)), z)
	t, p := Powers(z)
	s, rest := twoPowers(t)
	return Mul(Mul(p, s), rest)
}

// twoPowers are two numbers whose product is 2ⁿ, of t = shifter + n.
func twoPowers(t Vec) (s, rest Vec) {
	n := SubInt(t, Wide(shifterBits))
	half := RightSign(n, 1)
	return PowerOf2(half, 0), PowerOf2(SubInt(n, half), 0)
}

// ExpDown is eˣ for x ≤ 0 or NaN.
func ExpDown(x Vec) Vec {
	t, p := Powers(Higher(Get(Num(-104)), x))
	return Mul(Mul(p, PowerOf2(t, 64)), Num(0x1p-64))
}

// ExpMinus1 is eˣ − 1 for x ≤ 0 or NaN, as exact near 0 as x.
func ExpMinus1(x Vec) Vec {
	t, r := rest(Higher(Get(Num(-87)), x))
	q := Horner(r, Exponential...)
	q = MulAdd(q, Mul(r, r), r)
	s := PowerOf2(t, 0)
	return MulAdd(q, s, Sub(s, Num(1)))
}

// SigmoidOrdinary is 1/(1 + e) and e = e⁻ˣ, if x is ordinary.
func SigmoidOrdinary(x Vec) (s, e Vec) {
	t, p := powersOfMinus(x)
	e = times(p, t)
	return Div(Get(Num(1)), Add(e, Num(1))), e
}

// Sigmoid is 1/(1 + e⁻ˣ) of any x, by the exponential of −|x|, which never
// overflows, and 1 − that.
func Sigmoid(x Vec) (s, lacks Vec) {
	e := ExpDown(Or(x, Wide(SignBit)))
	s = Div(Get(Num(1)), Add(e, Num(1)))
	small := Mul(s, e)
	return Pick(x, small, s), Pick(x, s, small)
}

// TanhOver and TanhUnder are polynomials of x², the highest power's coefficient
// first: x·over/under is tanh x within 3.1e-7 of it, at most 1, and x near 0. At
// TanhEnd it comes to 1, which is within 1.6e-7 of all further ones.
var (
	TanhOver  = []float64{1.34169582e-08, 2.06592522e-05, 0.00349887903, 0.133838847, 1}
	TanhUnder = []float64{7.8035805e-07, 0.0003290842, 0.0258897692, 0.467172086, 1}
)

const TanhEnd = 8.176332

// Tanh is a quotient of polynomials, which keeps the sign of zero and NaN.
func Tanh(x Vec) Vec {
	x = Higher(Get(Num(-TanhEnd)), Lower(Get(Num(TanhEnd)), x))
	z := Mul(x, x)
	over := Mul(Horner(z, TanhOver...), x)
	return Div(over, Horner(z, TanhUnder...))
}

// WeighedTail is x·sigmoid(z) where |z| is large: x·e^z where z is negative,
// else x. x and z have the same sign.
func WeighedTail(x, z Vec) Vec {
	t, p := Powers(Lower(Get(Num(0)), Higher(Get(Num(-120)), z)))
	s, rest := twoPowers(t)
	y := Mul(Mul(Mul(p, s), Higher(Get(Num(-1e4)), x)), rest)
	return Pick(z, y, x)
}
