package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lanes is how many float32 a YMM register holds.
const lanes = 8

var (
	labels    int
	maskTable *Mem
)

// prefetchToWrite is PREFETCHW of the line at a register, which the assembler does not
// know. Processors that do not either take it for nothing.
func prefetchToWrite(at reg.Register) {
	MOVQ(at, reg.RAX)
	prefetchRAX(0)
}

// prefetchRAX is prefetchToWrite of the line so many bytes from where RAX points.
func prefetchRAX(disp int8) {
	code := []byte{0x0f, 0x0d, 0x08}
	if disp != 0 {
		code = []byte{0x0f, 0x0d, 0x48, byte(disp)}
	}
	for _, b := range code {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}})
	}
}

// fresh returns a label that no other place has.
func fresh(name string) string {
	labels++
	return fmt.Sprintf("%s%d", name, labels)
}

// maskOf returns the mask of the first n lanes, for n in 0…8.
func maskOf(n reg.Register) reg.VecVirtual {
	if maskTable == nil {
		m := GLOBL("firstLanes", 24) // RODATA | NOPTR
		for i := range 2 * lanes {
			bits := uint32(0)
			if i < lanes {
				bits = ^uint32(0)
			}
			DATA(4*i, U32(bits))
		}
		maskTable = &m
	}
	at, back := GP64(), GP64()
	LEAQ(*maskTable, at)
	MOVQ(n, back)
	NEGQ(back)
	v := YMM()
	VMOVUPS(Mem{Base: at, Index: back, Scale: 4, Disp: 4 * lanes}, v)
	return v
}

// storeFirst stores the first n lanes of v, for n in 1…8, by narrower moves:
// masked stores are slow on AMD. v is lost.
func storeFirst(v reg.VecVirtual, n reg.Register, to Mem) {
	all, done := fresh("all"), fresh("stored")
	two, one := fresh("two"), fresh("one")
	x := v.AsX()
	CMPQ(n, Imm(lanes))
	JE(LabelRef(all))
	at := GP64()
	LEAQ(to, at)
	TESTQ(U32(4), n)
	JZ(LabelRef(two))
	VMOVUPS(x, Mem{Base: at})
	ADDQ(Imm(16), at)
	VEXTRACTF128(Imm(1), v, x)
	Label(two)
	TESTQ(U32(2), n)
	JZ(LabelRef(one))
	VMOVLPS(x, Mem{Base: at})
	ADDQ(Imm(8), at)
	VMOVHLPS(x, x, x)
	Label(one)
	TESTQ(U32(1), n)
	JZ(LabelRef(done))
	VMOVSS(x, Mem{Base: at})
	JMP(LabelRef(done))
	Label(all)
	VMOVUPS(v, to)
	Label(done)
}
