package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// dropout writes simd.Dropout.Add of a row. The hash of a column starts at
// key + column·golden; golden and the multipliers are those of dropout.go.
func dropout() {
	const golden = 0x9e3779b9
	start("dropoutAVX2", "func(dst, src *float32, n int, key, drop uint32, scale float32)",
		"dropoutAVX2 is Dropout.Add of a row, from the column whose hash starts at key.")
	l := newLoop(1, "dst", "src")
	count := everywhere("key")
	offsets := GLOBL("columns", 24) // RODATA | NOPTR
	for i := range lanes {
		DATA(4*i, U32(uint32(i)*(golden&0xffffffff)))
	}
	VPADDD(offsets, count, count)
	drop, scale := everywhere("drop"), broadcast("scale")
	l.run(func() {
		h, t := YMM(), YMM()
		VPSRLD(Imm(16), count, t)
		VPXOR(t, count, h)
		VPMULLD(wide(0x7feb352d), h, h)
		VPSRLD(Imm(15), h, t)
		VPXOR(t, h, h)
		VPMULLD(wide(0x846ca68b), h, h)
		VPSRLD(Imm(16), h, t)
		VPXOR(t, h, h)
		VPMAXUD(drop, h, t)
		VPCMPEQD(t, h, h) // h ≥ drop
		kept := and(l.load("src"), h)
		VFMADD213PS(l.load("dst"), scale, kept)
		l.store(kept, "dst")
		VPADDD(wide(lanes*golden&0xffffffff), count, count)
	})
	finish()
}

// everywhere loads a uint32 parameter into all lanes.
func everywhere(param string) vec {
	g, x, v := Load(Param(param), GP32()), XMM(), YMM()
	VMOVD(g, x)
	VPBROADCASTD(x, v)
	return v
}
