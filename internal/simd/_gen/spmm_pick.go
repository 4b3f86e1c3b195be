package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// picks writes the kernel that drops zeros. Which those are cannot be foreseen,
// so it does not branch.
func picks() {
	start("pickAVX2", "func(toCols *int32, toW *float32, cols *int32, w *float32, n int) int", "pickAVX2 is Pick of n > 0 nonzeros.")
	ptr := func(name string) reg.Register { return Load(Param(name), GP64()) }
	toCols, toW, cols, w, n := ptr("toCols"), ptr("toW"), ptr("cols"), ptr("w"), ptr("n")
	k, kept, one, c, v := GP64(), GP64(), GP64(), GP32(), GP32()
	XORQ(k, k)
	XORQ(kept, kept)
	Label("each")
	MOVL(Mem{Base: cols, Index: k, Scale: 4}, c)
	MOVL(Mem{Base: w, Index: k, Scale: 4}, v)
	MOVL(c, Mem{Base: toCols, Index: kept, Scale: 4})
	MOVL(v, Mem{Base: toW, Index: kept, Scale: 4})
	XORQ(one, one)
	ADDL(v, v) // but for the sign
	SETNE(one.As8())
	ADDQ(one, kept)
	INCQ(k)
	CMPQ(k, n)
	JL(LabelRef("each"))
	Store(kept, ReturnIndex(0))
	RET()
}
