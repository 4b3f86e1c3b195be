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

// made ends an operation, and lets the steps of a woven loop go on.
func made(v vec) vec {
	pass()
	return v
}

// The operations of one instruction: each returns a new register. Where only
// one operand can be in memory it is the one named m.

func add(x vec, m Op) vec    { v := YMM(); VADDPS(operand(m), x, v); return made(v) }
func sub(x vec, m Op) vec    { v := YMM(); VSUBPS(operand(m), x, v); return made(v) }
func mul(x vec, m Op) vec    { v := YMM(); VMULPS(operand(m), x, v); return made(v) }
func div(x vec, m Op) vec    { v := YMM(); VDIVPS(operand(m), x, v); return made(v) }
func and(x vec, m Op) vec    { v := YMM(); VANDPS(operand(m), x, v); return made(v) }
func or(x vec, m Op) vec     { v := YMM(); VORPS(operand(m), x, v); return made(v) }
func xor(x vec, m Op) vec    { v := YMM(); VXORPS(operand(m), x, v); return made(v) }
func andNot(not, m Op) vec   { v := YMM(); VANDNPS(operand(m), not, v); return made(v) }
func sqrt(m Op) vec          { v := YMM(); VSQRTPS(m, v); return made(v) }
func lower(x vec, m Op) vec  { v := YMM(); VMINPS(operand(m), x, v); return made(v) } // m if either is NaN
func higher(x vec, m Op) vec { v := YMM(); VMAXPS(operand(m), x, v); return made(v) } // m if either is NaN

// get loads m.
func get(m Op) vec {
	v := YMM()
	VMOVUPS(operand(m), v)
	return made(v)
}

// The operations on the bits, as integers.

func addInt(x vec, m Op) vec         { v := YMM(); VPADDD(operand(m), x, v); return made(v) }
func subInt(x vec, m Op) vec         { v := YMM(); VPSUBD(operand(m), x, v); return made(v) }
func left(x vec, by uint64) vec      { v := YMM(); VPSLLD(Imm(by), x, v); return made(v) }
func right(x vec, by uint64) vec     { v := YMM(); VPSRLD(Imm(by), x, v); return made(v) }
func rightSign(x vec, by uint64) vec { v := YMM(); VPSRAD(Imm(by), x, v); return made(v) }
func greaterInt(x vec, than uint32) vec {
	v := YMM()
	VPCMPGTD(operand(wide(than)), x, v)
	return made(v)
}
func toFloat(x vec) vec { v := YMM(); VCVTDQ2PS(x, v); return made(v) }

// pick is x where the mask has its sign bit set, else y.
func pick(mask, x, y vec) vec { v := YMM(); VBLENDVPS(mask, x, y, v); return made(v) }

// The predicates of compare.
const (
	equal      = 0x00
	less       = 0x11
	lessEqual  = 0x12
	unorder    = 0x03
	unequal    = 0x04 // or NaN
	notLE      = 0x16 // greater, or NaN
	notGE      = 0x19
	notGreater = 0x1a // or NaN
	greater    = 0x1e
)

// compare is all ones where x is in the relation to m.
func compare(predicate uint64, x vec, m Op) vec {
	v := YMM()
	VCMPPS(Imm(predicate), operand(m), x, v)
	return made(v)
}

// mulAdd is x·y + m, and x is lost.
func mulAdd(x, y vec, m Op) vec { VFMADD213PS(operand(m), y, x); return made(x) }

// plus is sum + x·m, and minus is sum − x·m; sum is lost.
func plus(sum, x vec, m Op) vec  { VFMADD231PS(operand(m), x, sum); return made(sum) }
func minus(sum, x vec, m Op) vec { VFNMADD231PS(operand(m), x, sum); return made(sum) }

// horner is the polynomial of x, the highest power's coefficient first.
func horner(x vec, coefficients ...float64) vec {
	p := get(num(coefficients[0]))
	for _, c := range coefficients[1:] {
		p = mulAdd(p, x, num(c))
	}
	return p
}

const signBit = 0x80000000

func magnitude(x vec) vec { return and(x, wide(^uint32(signBit))) }

// signOf is −1, 0 or 1, and NaN of NaN.
func signOf(x vec) vec {
	one := or(and(x, wide(signBit)), num(1))
	s := and(one, compare(unequal, x, num(0)))
	return or(s, compare(unorder, x, x))
}
