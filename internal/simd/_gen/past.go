package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// storePast stores registers as a row that is not read again here: past the
// caches, if the number at past is not 0.
func storePast(past Mem, v []vec, row reg.Register) {
	eitherWay(past, func(move func(x, to Op)) {
		for i, x := range v {
			move(x, column(row, i))
		}
	})
}

// storePast512 is storePast of a row in four registers of AVX-512.
func storePast512(past Mem, v row512, row reg.Register) {
	eitherWay(past, func(move func(x, to Op)) {
		for k, x := range v {
			move(x, quad(row, k))
		}
	})
}

// eitherWay writes stores twice: into the caches and past them.
func eitherWay(past Mem, store func(move func(x, to Op))) {
	around, stored := fresh("past"), fresh("kept")
	CMPQ(past, Imm(0))
	JNE(LabelRef(around))
	store(func(x, to Op) { VMOVUPS(x, to) })
	JMP(LabelRef(stored))
	Label(around)
	store(VMOVNTPS)
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
