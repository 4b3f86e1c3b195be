package main

import "math"

// logOrdinary is log x of a positive normal number. The polynomial is that of
// Cephes' logf.
func logOrdinary(x vec) vec { return logOf(x, nil) }

// logOf is log x·2⁻ˢ of a positive normal number; a nil s is 0.
func logOf(x, s vec) vec {
	n := rightSign(subInt(x, wide(0x3f3504f3)), 23) // so that m is between √½ and √2
	m := sub(subInt(x, left(n, 23)), num(1))
	e := toFloat(n)
	if s != nil {
		e = sub(e, s)
	}
	z := mul(m, m)
	y := horner(m, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
		-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
	y = mul(mul(y, m), z)
	y = plus(y, e, num(-2.12194440e-4))
	y = minus(y, z, num(0.5))
	return plus(add(m, y), e, num(0.693359375))
}

// notPositive is all ones where x is not a positive normal number.
func notPositive(x vec) vec {
	v := addInt(x, wide(signBit-0x800000)) // the least of them is the least integer
	return greaterInt(v, signBit+0x7f000000-1)
}

// log is log x: −Inf of 0, NaN of less.
func log(x vec) vec {
	tiny := compare(less, x, num(0x1p-126))
	scaled := pick(tiny, mul(x, num(0x1p23)), x)
	v := logOf(scaled, and(tiny, num(23)))
	v = pick(compare(equal, x, num(0)), get(num(math.Inf(-1))), v)
	v = pick(compare(equal, x, num(math.Inf(1))), x, v)
	return or(v, compare(notGE, x, num(0))) // all ones are a NaN
}

// atanh are the coefficients of 2·atanh(s/2)/s in s², the highest power's first.
var atanh = []float64{0.000119110878, 0.000417940636, 0.0022359537, 0.0124995973, 0.0833333488, 1}

// softplus is max(x, 0) + log(1 + e^−|x|), where log(1+e) = 2·atanh(e/(2+e)).
func softplus(x vec) vec {
	e := expDown(or(x, wide(signBit)))
	s := div(add(e, e), add(e, num(2)))
	p := horner(mul(s, s), atanh...)
	return plus(higher(get(num(0)), x), s, p)
}
