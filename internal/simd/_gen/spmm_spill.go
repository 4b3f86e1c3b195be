package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// spills writes the kernel that adds rows to where their nonzeros point.
func spills() {
	start("spillAVX2", "func(y, x *float32, cols *int32, w *float32, offsets *int64, rows, f int)", "spillAVX2 is Spill of rows > 0 rows.")
	y, x := Load(Param("y"), GP64()), Load(Param("x"), GP64())
	cols, w := Load(Param("cols"), GP64()), Load(Param("w"), GP64())
	offsets, rows := Load(Param("offsets"), GP64()), Load(Param("rows"), GP64())
	f := Load(Param("f"), GP64())
	SHLQ(Imm(2), f)
	k, end, at := GP64(), GP64(), GP64()
	MOVQ(Mem{Base: offsets}, k)
	from := [4]vec{}
	for i := range from {
		from[i] = YMM()
	}
	by, t := YMM(), YMM()
	Label("row")
	MOVQ(Mem{Base: offsets, Disp: 8}, end)
	for i, v := range from {
		VMOVUPS(Mem{Base: x, Disp: 32 * i}, v)
	}
	Label("each")
	CMPQ(k, end)
	JGE(LabelRef("next"))
	MOVLQSX(Mem{Base: cols, Index: k, Scale: 4}, at)
	IMULQ(f, at)
	VBROADCASTSS(Mem{Base: w, Index: k, Scale: 4}, by)
	for i, v := range from {
		to := Mem{Base: y, Index: at, Scale: 1, Disp: 32 * i}
		VMULPS(v, by, t)
		VADDPS(to, t, t)
		VMOVUPS(t, to)
	}
	INCQ(k)
	JMP(LabelRef("each"))
	Label("next")
	ADDQ(f, x)
	ADDQ(Imm(8), offsets)
	DECQ(rows)
	JNZ(LabelRef("row"))
	finish()
}
