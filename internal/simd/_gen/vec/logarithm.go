package vec

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
)

// logOrdinary is log x of a positive normal number. The polynomial is that of
// Cephes' logf.
func logOrdinary(x Vec) Vec { return logOf(x, nil) }

// logOf is log x·2⁻ˢ of a positive normal number; a nil s is 0.
func logOf(x, s Vec) Vec {
	n := RightSign(SubInt(x, Wide(0x3f3504f3)), 23) // so that m is between √½ and √2
	m := Sub(SubInt(x, Left(n, 23)), Num(1))
	e := ToFloat(n)
	if s != nil {
		e = Sub(e, s)
	}
	z := Mul(m, m)
	y := Horner(m, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
		-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
	y = Mul(Mul(y, m), z)
	y = Plus(y, e, Num(-2.12194440e-4))
	y = Minus(y, z, Num(0.5))
	return Plus(Add(m, y), e, Num(0.693359375))
}

// notPositive is all ones where x is not a positive normal number.
func notPositive(x Vec) Vec {
	v := AddInt(x, Wide(SignBit-0x800000)) // the least of them is the least integer
	return GreaterInt(v, SignBit+0x7f000000-1)
}

// log is log x: −Inf of 0, NaN of less.
func log(x Vec) Vec {
	tiny := Compare(Less, x, Num(0x1p-126))
	scaled := Pick(tiny, Mul(x, Num(0x1p23)), x)
	v := logOf(scaled, And(tiny, Num(23)))
	v = Pick(Compare(Equal, x, Num(0)), Get(Num(math.Inf(-1))), v)
	v = Pick(Compare(Equal, x, Num(math.Inf(1))), x, v)
	return Or(v, Compare(NotGE, x, Num(0))) // all ones are a NaN
}

// atanh are the coefficients of 2·atanh(s/2)/s in s², the highest power's first.
var atanh = []float64{0.000119110878, 0.000417940636, 0.0022359537, 0.0124995973, 0.0833333488, 1}

// softplus is max(x, 0) + log(1 + e^−|x|), where log(1+e) = 2·atanh(e/(2+e)).
func softplus(x Vec) Vec {
	e := ExpDown(Or(x, Wide(SignBit)))
	s := Div(Add(e, e), Add(e, Num(2)))
	p := Horner(Mul(s, s), atanh...)
	return Plus(Higher(Get(Num(0)), x), s, p)
}
