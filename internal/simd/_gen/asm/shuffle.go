package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

var patterns = map[string]Mem{}

// Pattern returns the memory of eight words, one of a name.
func Pattern(name string, f func(i int) uint32) Mem {
	if m, ok := patterns[name]; ok {
		return m
	}
	m := GLOBL(name, 24) // RODATA | NOPTR
	for i := range Lanes {
		DATA(4*i, U32(f(i)))
	}
	patterns[name] = m
	return m
}

// Pairwise adds up the pairs of elements of v and then of w, in each half of a
// register, as VHADDPS does, which takes AMD more operations.
func Pairwise(v, w Vec) Vec {
	even := YMM()
	VSHUFPS(Imm(0x88), w, v, even)
	VSHUFPS(Imm(0xdd), w, v, v)
	VADDPS(v, even, even)
	return even
}

// Halves adds up the halves of v and, behind them, those of w; v is lost.
func Halves(v, w Vec) Vec {
	crossed := YMM()
	VPERM2F128(Imm(0x21), w, v, crossed)
	VBLENDPS(Imm(0xf0), w, v, v)
	VADDPS(crossed, v, v)
	return v
}

// Across is the sum of the lanes.
func Across(v Vec) reg.VecVirtual {
	high, x := XMM(), v.AsX()
	VEXTRACTF128(Imm(1), v, high)
	sum := XMM()
	VADDPS(high, x, sum)
	turned := XMM()
	VMOVHLPS(sum, sum, turned)
	VADDPS(turned, sum, sum)
	last := XMM()
	VMOVSHDUP(sum, last)
	VADDSS(last, sum, sum)
	return sum
}
