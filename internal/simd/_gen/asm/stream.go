package asm

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// StoreStream stores registers as a row that is not read again here: past the
// caches, if the number at stream is not 0.
func StoreStream(stream Mem, v []Vec, row reg.Register) {
	EitherWay(stream, func(move func(x, to Op)) {
		for i, x := range v {
			move(x, Column(row, i))
		}
	})
}

// EitherWay writes stores twice: into the caches and past them.
func EitherWay(stream Mem, store func(move func(x, to Op))) {
	around, stored := Fresh("stream"), Fresh("stored")
	CMPQ(stream, Imm(0))
	JNE(LabelRef(around))
	store(func(x, to Op) { VMOVUPS(x, to) })
	JMP(LabelRef(stored))
	Label(around)
	store(VMOVNTPS)
	Label(stored)
}

// FenceStream makes stores past the caches, if there were any, seen before all
// that come later.
func FenceStream(stream Mem) {
	none := Fresh("fenced")
	CMPQ(stream, Imm(0))
	JE(LabelRef(none))
	SFENCE()
	Label(none)
}
