package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

type vec = reg.VecVirtual

var wides = map[uint32]Mem{}

// wide returns the memory of eight times the same 32 bits, an operand of most
// instructions that costs no register.
func wide(bits uint32) Mem {
	m, ok := wides[bits]
	if !ok {
		m = GLOBL(fmt.Sprintf("wide%08x", bits), 24) // RODATA | NOPTR
		for i := range lanes {
			DATA(4*i, U32(bits))
		}
		wides[bits] = m
	}
	return m
}

// num is wide of a number.
func num(x float64) Mem { return wide(math.Float32bits(float32(x))) }

// The operations of one instruction: each returns a new register. Where only
// one operand can be in memory it is the one named m.

func get(m Op) vec           { v := YMM(); VMOVUPS(m, v); return v }
func add(x vec, m Op) vec    { v := YMM(); VADDPS(m, x, v); return v }
func sub(x vec, m Op) vec    { v := YMM(); VSUBPS(m, x, v); return v }
func mul(x vec, m Op) vec    { v := YMM(); VMULPS(m, x, v); return v }
func div(x vec, m Op) vec    { v := YMM(); VDIVPS(m, x, v); return v }
func and(x vec, m Op) vec    { v := YMM(); VANDPS(m, x, v); return v }
func or(x vec, m Op) vec     { v := YMM(); VORPS(m, x, v); return v }
func xor(x vec, m Op) vec    { v := YMM(); VXORPS(m, x, v); return v }
func andNot(not, m Op) vec   { v := YMM(); VANDNPS(m, not, v); return v }
func sqrt(m Op) vec          { v := YMM(); VSQRTPS(m, v); return v }
func lower(x vec, m Op) vec  { v := YMM(); VMINPS(m, x, v); return v } // m if either is NaN
func higher(x vec, m Op) vec { v := YMM(); VMAXPS(m, x, v); return v } // m if either is NaN

// pick is x where the mask has its sign bit set, else y.
func pick(mask, x, y vec) vec { v := YMM(); VBLENDVPS(mask, x, y, v); return v }

// The predicates of compare.
const (
	equal   = 0x00
	less    = 0x11
	unorder = 0x03
	notGE   = 0x19
	greater = 0x1e
)

// compare is all ones where x is in the relation to m.
func compare(predicate uint64, x vec, m Op) vec {
	v := YMM()
	VCMPPS(Imm(predicate), m, x, v)
	return v
}

// mulAdd is x·y + m, and x is lost.
func mulAdd(x, y vec, m Op) vec { VFMADD213PS(m, y, x); return x }

// horner is the polynomial of x, the highest power's coefficient first.
func horner(x vec, coefficients ...float64) vec {
	p := get(num(coefficients[0]))
	for _, c := range coefficients[1:] {
		p = mulAdd(p, x, num(c))
	}
	return p
}

const signBit = 0x80000000

// reduce returns n and e^r − 1 for z = n·log 2 + r, n an integer and r small.
// The polynomial is that of Cephes' expf.
func reduce(z vec) (n, q vec) {
	n = mul(z, num(math.Log2E))
	VROUNDPS(Imm(8), n, n)
	r := YMM()
	VMOVAPS(z, r)
	VFNMADD231PS(num(0.693359375), n, r)
	VFNMADD231PS(num(-2.12194440e-4), n, r)
	p := horner(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
	return n, mulAdd(p, mul(r, r), r)
}

// powerOf2 is 2ⁿ for an integer −127 … 128 in 32 bits; that of −127 is zero.
func powerOf2(n vec) vec {
	v := YMM()
	VPADDD(wide(127), n, v)
	VPSLLD(Imm(23), v, v)
	return v
}

// exp is eˣ. Its scale is applied in two steps, so that denormal results are
// right and too large ones infinite.
func exp(x vec) vec {
	z := lower(get(num(89)), x)
	z = higher(get(num(-104)), z)
	n, q := reduce(z)
	whole, half := YMM(), YMM()
	VCVTPS2DQ(n, whole)
	VPSRAD(Imm(1), whole, half)
	VPSUBD(half, whole, whole)
	s := powerOf2(half)
	return mul(mulAdd(q, s, s), powerOf2(whole))
}

// expMinus1 is eˣ − 1 for x ≤ 0 or NaN, as exact near 0 as x.
func expMinus1(x vec) vec {
	n, q := reduce(higher(get(num(-88)), x))
	VCVTPS2DQ(n, n)
	s := powerOf2(n)
	return mulAdd(q, s, sub(s, num(1)))
}

// logOfNormal is log x·2⁻ˢ of a positive normal number, for an integer s. The
// polynomial is that of Cephes' logf.
func logOfNormal(x vec, s Op) vec {
	e := YMM()
	VPSRLD(Imm(23), x, e)
	VPSUBD(wide(126), e, e)
	VCVTDQ2PS(e, e)
	VSUBPS(s, e, e)
	m := or(and(x, wide(0x7fffff)), wide(0x3f000000))
	small := compare(less, m, num(math.Sqrt2/2))
	e = sub(e, and(small, num(1)))
	m = sub(add(m, and(m, small)), num(1))
	z := mul(m, m)
	y := horner(m, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
		-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
	y = mul(mul(y, m), z)
	VFMADD231PS(num(-2.12194440e-4), e, y)
	VFNMADD231PS(num(0.5), z, y)
	v := add(m, y)
	VFMADD231PS(num(0.693359375), e, v)
	return v
}

// log is log x: −Inf of 0, NaN of less.
func log(x vec) vec {
	tiny := compare(less, x, num(0x1p-126))
	scaled := pick(tiny, mul(x, num(0x1p23)), x)
	v := logOfNormal(scaled, and(tiny, num(23)))
	v = pick(compare(equal, x, num(0)), get(num(math.Inf(-1))), v)
	v = pick(compare(equal, x, num(math.Inf(1))), x, v)
	return or(v, compare(notGE, x, num(0))) // all ones are a NaN
}

// sigmoid is 1/(1 + e⁻ˣ), by the exponential of −|x|, which never overflows.
func sigmoid(x vec) vec {
	e := exp(or(x, wide(signBit)))
	s := div(get(num(1)), add(e, num(1)))
	return pick(x, mul(s, e), s)
}

// tanh is that of |x| with the sign of x.
func tanh(x vec) vec {
	a := or(x, wide(signBit))
	m := expMinus1(add(a, a))
	y := div(m, add(m, num(2))) // of the negative
	return or(and(x, wide(signBit)), and(y, wide(^uint32(signBit))))
}

// softplus is max(x, 0) + log(1 + e^−|x|). What 1 + e loses is put back.
func softplus(x vec) vec {
	e := exp(or(x, wide(signBit)))
	w := add(e, num(1))
	lost := div(sub(e, sub(w, num(1))), w)
	v := add(logOfNormal(w, num(0)), lost)
	return add(higher(get(num(0)), x), v)
}
