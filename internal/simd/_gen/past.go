package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// storePast stores registers as a row that is not read again here: past the
// caches, if the number at past is not 0.
func storePast(past Mem, v []vec, row reg.Register) {
	around, stored := fresh("past"), fresh("kept")
	CMPQ(past, Imm(0))
	JNE(LabelRef(around))
	for i, x := range v {
		VMOVUPS(x, column(row, i))
	}
	JMP(LabelRef(stored))
	Label(around)
	for i, x := range v {
		VMOVNTPS(x, column(row, i))
	}
	Label(stored)
}

// storePast512 is storePast of a row in four registers of AVX-512.
func storePast512(past Mem, v row512, row reg.GPVirtual) {
	around, stored := fresh("past"), fresh("kept")
	CMPQ(past, Imm(0))
	JNE(LabelRef(around))
	for k, x := range v {
		VMOVUPS(x, quad(row, k))
	}
	JMP(LabelRef(stored))
	Label(around)
	for k, x := range v {
		VMOVNTPS(x, quad(row, k))
	}
	Label(stored)
}

// fencePast makes stores past the caches, if there were any, seen before all
// that come later.
func fencePast(past Mem) {
	none := fresh("fenced")
	CMPQ(past, Imm(0))
	JE(LabelRef(none))
	SFENCE()
	Label(none)
}
