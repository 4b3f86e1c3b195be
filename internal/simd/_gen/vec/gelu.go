package vec

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
)

// GELU is x·Φ(x) of the normal distribution. With a = |x|, Φ(−a) is e^(−a²/2)
// times a function that falls slowly, a polynomial of u = 1/(1 + 0.4·a) times u,
// right to 4e-8 for a up to where Φ(−a) is zero in 32 bits.
var tail = []float64{0.0324579503, -0.178196906, 0.385659249, -0.378569952, 0.123246733, -0.0288062258, 0.0919807404,
	0.133011879, 0.159641256, 0.159575281}

// normal returns a, at most 14.7, and Φ(−a) and e^(−a²/2), both times 2⁶⁴.
func normal(x Vec) (a, phi, e Vec) {
	a = Lower(Get(Num(14.7)), Magnitude(x))
	square := Mul(a, a)
	lost := Minus(Sub(square, Num(0)), a, a) // what the square lacks, of the other sign
	t, p := Powers(Mul(square, Num(-0.5)))
	p = Plus(p, Mul(p, lost), Num(0.5))
	e = Mul(p, PowerOf2(t, 64))
	u := Div(Get(Num(1)), Plus(Get(Num(1)), a, Num(0.4)))
	return a, Mul(Mul(Horner(u, tail...), u), e), e
}

// gelu is max(x, 0) − a·Φ(−a).
func gelu(x Vec) Vec {
	a, phi, _ := normal(x)
	return Minus(Higher(Get(Num(0)), x), Mul(a, phi), Num(0x1p-64))
}

// geluSlope is Φ(x) + x·e^(−x²/2)/√(2π).
func geluSlope(x Vec) Vec {
	a, phi, e := normal(x)
	density := Mul(Mul(a, e), Num(1/math.Sqrt(2*math.Pi)))
	less := Mul(Sub(phi, density), Num(0x1p-64)) // the slope at −a; that at a is 1 − it
	return Pick(x, less, Sub(Get(Num(1)), less))
}

// The tanh form of GELU is x·sigmoid(z) with z = x·(k + k·0.044715·x²).
var (
	gain1 = 2 * math.Sqrt(2/math.Pi)
	gain3 = gain1 * 0.044715
)

func inner(x Vec) Vec { return Mul(Horner(Mul(x, x), gain3, gain1), x) }

// within is x, at most 15 and at least −15: the slopes beyond are those there.
func within(x Vec) Vec { return Higher(Get(Num(-15)), Lower(Get(Num(15)), x)) }

// geluTanhSlope is s + x·z'·s·(1−s) of a sigmoid s(z), and 1 − s.
func geluTanhSlope(x, s, lacks Vec) Vec {
	dz := Mul(Horner(Mul(x, x), 3*gain3, gain1), x)
	return Plus(s, Mul(dz, s), lacks)
}
