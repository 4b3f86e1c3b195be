package asm

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Vec is a vector register.
type Vec = reg.VecVirtual

var wides = map[uint32]Mem{}

// Wide returns the memory of eight times the same 32 bits, an operand of most
// instructions that costs no register.
func Wide(bits uint32) Mem {
	m, ok := wides[bits]
	if !ok {
		m = GLOBL(fmt.Sprintf("wide%08x", bits), 24) // RODATA | NOPTR
		for i := range Lanes {
			DATA(4*i, U32(bits))
		}
		wides[bits] = m
	}
	return m
}

// Num is wide of a number.
func Num(x float64) Mem { return Wide(math.Float32bits(float32(x))) }

// Made ends an operation, and lets the steps of an interleaved loop go on.
func Made(v Vec) Vec {
	turn()
	return v
}

// The operations of one instruction: each returns a new register. Where only
// one operand can be in memory it is the one named m.

// Add is x + m.
func Add(x Vec, m Op) Vec { v := YMM(); VADDPS(Operand(m), x, v); return Made(v) }

// Sub is x − m.
func Sub(x Vec, m Op) Vec { v := YMM(); VSUBPS(Operand(m), x, v); return Made(v) }

// Mul is x·m.
func Mul(x Vec, m Op) Vec { v := YMM(); VMULPS(Operand(m), x, v); return Made(v) }

// Div is x/m.
func Div(x Vec, m Op) Vec { v := YMM(); VDIVPS(Operand(m), x, v); return Made(v) }

// And has the bits that x and m have.
func And(x Vec, m Op) Vec { v := YMM(); VANDPS(Operand(m), x, v); return Made(v) }

// Or has the bits that x or m has.
func Or(x Vec, m Op) Vec { v := YMM(); VORPS(Operand(m), x, v); return Made(v) }

// Xor has the bits in which x and m differ.
func Xor(x Vec, m Op) Vec { v := YMM(); VXORPS(Operand(m), x, v); return Made(v) }

// AndNot has the bits of m that not has not.
func AndNot(not, m Op) Vec { v := YMM(); VANDNPS(Operand(m), not, v); return Made(v) }

// Sqrt is √m.
func Sqrt(m Op) Vec { v := YMM(); VSQRTPS(m, v); return Made(v) }

// Lower is the smaller.
func Lower(x Vec, m Op) Vec { v := YMM(); VMINPS(Operand(m), x, v); return Made(v) } // m if either is NaN

// Higher is the larger.
func Higher(x Vec, m Op) Vec { v := YMM(); VMAXPS(Operand(m), x, v); return Made(v) } // m if either is NaN

// Get loads m.
func Get(m Op) Vec {
	v := YMM()
	VMOVUPS(Operand(m), v)
	return Made(v)
}

// The operations on the bits, as integers.

// AddInt is x + m of whole numbers.
func AddInt(x Vec, m Op) Vec { v := YMM(); VPADDD(Operand(m), x, v); return Made(v) }

// SubInt is x − m of whole numbers.
func SubInt(x Vec, m Op) Vec { v := YMM(); VPSUBD(Operand(m), x, v); return Made(v) }

// Left is x shifted to the left.
func Left(x Vec, by uint64) Vec { v := YMM(); VPSLLD(Imm(by), x, v); return Made(v) }

func right(x Vec, by uint64) Vec { v := YMM(); VPSRLD(Imm(by), x, v); return Made(v) }

// RightSign is x shifted to the right, by its sign.
func RightSign(x Vec, by uint64) Vec { v := YMM(); VPSRAD(Imm(by), x, v); return Made(v) }

// GreaterInt is all ones where x, a whole number, is greater.
func GreaterInt(x Vec, than uint32) Vec {
	v := YMM()
	VPCMPGTD(Operand(Wide(than)), x, v)
	return Made(v)
}

// ToFloat makes numbers of whole ones.
func ToFloat(x Vec) Vec { v := YMM(); VCVTDQ2PS(x, v); return Made(v) }

// Pick is x where the mask has its sign bit set, else y.
func Pick(mask, x, y Vec) Vec { v := YMM(); VBLENDVPS(mask, x, y, v); return Made(v) }

// The predicates of compare.
const (
	Equal      = 0x00
	Less       = 0x11
	LessEqual  = 0x12
	Unorder    = 0x03
	Unequal    = 0x04 // or NaN
	NotLess    = 0x15 // or NaN
	NotLE      = 0x16 // greater, or NaN
	NotGE      = 0x19
	NotGreater = 0x1a // or NaN
	Greater    = 0x1e
)

// Compare is all ones where x is in the relation to m.
func Compare(predicate uint64, x Vec, m Op) Vec {
	v := YMM()
	VCMPPS(Imm(predicate), Operand(m), x, v)
	return Made(v)
}

// MulAdd is x·y + m, and x is lost.
func MulAdd(x, y Vec, m Op) Vec { VFMADD213PS(Operand(m), y, x); return Made(x) }

// Plus is sum + x·m, and minus is sum − x·m; sum is lost.
func Plus(sum, x Vec, m Op) Vec { VFMADD231PS(Operand(m), x, sum); return Made(sum) }

// Minus is sum − x·m; sum is lost.
func Minus(sum, x Vec, m Op) Vec { VFNMADD231PS(Operand(m), x, sum); return Made(sum) }

// Horner is the polynomial of x, the highest power's coefficient first.
func Horner(x Vec, coefficients ...float64) Vec {
	p := Get(Num(coefficients[0]))
	for _, c := range coefficients[1:] {
		p = MulAdd(p, x, Num(c))
	}
	return p
}

// SignBit is that of a float32.
const SignBit = 0x80000000

// Magnitude is |x|.
func Magnitude(x Vec) Vec { return And(x, Wide(^uint32(SignBit))) }

// SignOf is −1, 0 or 1, and NaN of NaN.
func SignOf(x Vec) Vec {
	one := Or(And(x, Wide(SignBit)), Num(1))
	s := And(one, Compare(Unequal, x, Num(0)))
	return Or(s, Compare(Unorder, x, x))
}
