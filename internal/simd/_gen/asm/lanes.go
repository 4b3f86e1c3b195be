package asm

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Lanes is how many float32 a YMM register holds.
const Lanes = 8

var (
	labels    int
	maskTable *Mem
)

// PrefetchToWrite is PREFETCHW of the line at a register, which the assembler does not
// know. Processors that do not either take it for nothing.
func PrefetchToWrite(at reg.Register) {
	MOVQ(at, reg.RAX)
	PrefetchRAX(0)
}

// PrefetchRAX is PrefetchToWrite of the line so many bytes from where RAX points.
func PrefetchRAX(disp int8) {
	code := []byte{0x0f, 0x0d, 0x08}
	if disp != 0 {
		code = []byte{0x0f, 0x0d, 0x48, byte(disp)}
	}
	for _, b := range code {
		Instruction(&ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}})
	}
}

// Fresh returns a label that no other place has.
func Fresh(name string) string {
	labels++
	return fmt.Sprintf("%s%d", name, labels)
}

// MaskOf returns the mask of the first n lanes, for n in 0…8.
func MaskOf(n reg.Register) reg.VecVirtual {
	if maskTable == nil {
		m := GLOBL("firstLanes", 24) // RODATA | NOPTR
		for i := range 2 * Lanes {
			bits := uint32(0)
			if i < Lanes {
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
	VMOVUPS(Mem{Base: at, Index: back, Scale: 4, Disp: 4 * Lanes}, v)
	return v
}

// StoreFirst stores the first n lanes of v, for n in 1…8, by narrower moves:
// masked stores are slow on AMD. v is lost.
func StoreFirst(v reg.VecVirtual, n reg.Register, to Mem) {
	all, done := Fresh("all"), Fresh("stored")
	two, one := Fresh("two"), Fresh("one")
	x := v.AsX()
	CMPQ(n, Imm(Lanes))
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

// GetZ loads a register of sixteen lanes.
func GetZ(m Op) Vec { v := ZMM(); VMOVUPS(m, v); return v }

// Quad is register k of the row at base.
func Quad(base reg.Register, k int) Mem { return Mem{Base: base, Disp: 64 * k} }

// Rows of one head of 64 elements, which layers without heads most often have, are four
// lines and fill eight registers. Their kernels keep the row of a destination there over
// all of its edges, and go through no loop within a row.
const (
	WideLanes = 8
	WideBytes = 32 * WideLanes
	WideShift = 8 // of the number of a row, to where it begins
	WideLines = WideBytes / LineBytes
)

// Column is register v of the row at a pointer.
func Column(row reg.Register, v int) Mem { return Mem{Base: row, Disp: 4 * Lanes * v} }

// NearAhead is how many edges ahead rows are asked for again, into the first cache:
// requests of many lines ahead of time are dropped when too many are under way, and
// then a row would be waited for.
const NearAhead = 8

// LineBytes is the size of a cache line.
const LineBytes = 64
