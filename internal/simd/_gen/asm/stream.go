package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// StoreStream stores registers as a row that is not read again here: past the
// caches, if the number at past is not 0.
func StoreStream(past Mem, v []Vec, row reg.Register) {
	EitherWay(past, func(move func(x, to Op)) {
		for i, x := range v {
			move(x, Column(row, i))
		}
	})
}

// EitherWay writes stores twice: into the caches and past them.
func EitherWay(past Mem, store func(move func(x, to Op))) {
	around, stored := Fresh("past"), Fresh("kept")
	CMPQ(past, Imm(0))
	JNE(LabelRef(around))
	store(func(x, to Op) { VMOVUPS(x, to) })
	JMP(LabelRef(stored))
	Label(around)
	store(VMOVNTPS)
	Label(stored)
}

// FenceStream makes stores past the caches, if there were any, seen before all
// that come later.
func FenceStream(past Mem) {
	none := Fresh("fenced")
	CMPQ(past, Imm(0))
	JE(LabelRef(none))
	SFENCE()
	Label(none)
}
