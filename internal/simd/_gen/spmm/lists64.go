package spmm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Gather64 writes Rows.Gather of such rows.
//
//	dst[i,:] = src[rows[i],:]
func Gather64() {
	Start("gatherRows64AVX2", "func(dst, src *float32, rows *int32, n, ahead, near int)", "gatherRows64AVX2 is GatherRows of n rows of 64 elements.")
	dst, src, rows := Arg("dst"), Arg("src"), Arg("rows")
	n, ahead, near := Arg("n"), Arg("ahead"), Arg("near")
	i, s := GP64(), GP64()
	find := func(list reg.GPVirtual) {
		MOVLQSX(Mem{Base: list, Index: i, Scale: 4}, s)
		SHLQ(Imm(WideShift), s)
	}
	XORQ(i, i)
	LEAQ(Mem{Base: rows, Index: ahead, Scale: 4}, ahead)
	each64(i, n, near, func() {
		find(ahead)
		for l := range WideLines {
			PREFETCHT1(Mem{Base: src, Index: s, Scale: 1, Disp: LineBytes * l})
		}
	}, func() {
		find(rows)
		for k := range WideLanes {
			VMOVUPS(Get(Mem{Base: src, Index: s, Scale: 1, Disp: 32 * k}), Mem{Base: dst, Disp: 32 * k})
		}
		ADDQ(U32(WideBytes), dst)
	})
}

// each64 writes the loop over n rows: fetch, for the first near of them, and body.
func each64(i, n, near reg.GPVirtual, fetch, body func()) {
	again, none := Fresh("again"), Fresh("none")
	Label(again)
	CMPQ(i, near)
	JGE(LabelRef(none))
	fetch()
	Label(none)
	body()
	INCQ(i)
	CMPQ(i, n)
	JL(LabelRef(again))
	Finish()
}

// Scatter64 writes Rows.Scatter of such rows.
//
//	dst[to[k],:] += src[k,:]    for each k of from
func Scatter64() {
	Start("scatterRows64AVX2", "func(dst, src *float32, to *int32, from *uint16, n, ahead, near int)", "scatterRows64AVX2 is ScatterRows of n rows of 64 elements.")
	dst, src, to, from := Arg("dst"), Arg("src"), Arg("to"), Arg("from")
	n, ahead, near := Arg("n"), Arg("ahead"), Arg("near")
	i, s, d := GP64(), GP64(), GP64()
	row := func(base, at reg.GPVirtual, k int) Mem { return Mem{Base: base, Index: at, Scale: 1, Disp: 32 * k} }
	find := func(list reg.GPVirtual) {
		MOVWQZX(Mem{Base: list, Index: i, Scale: 2}, s)
		MOVLQSX(Mem{Base: to, Index: s, Scale: 4}, d)
		SHLQ(Imm(WideShift), s)
		SHLQ(Imm(WideShift), d)
	}
	XORQ(i, i)
	LEAQ(Mem{Base: from, Index: ahead, Scale: 2}, ahead)
	each64(i, n, near, func() {
		find(ahead)
		for l := range WideLines {
			PREFETCHT1(row(dst, d, 2*l))
			PREFETCHT0(row(src, s, 2*l))
		}
	}, func() {
		find(from)
		for k := range WideLanes {
			VMOVUPS(Add(Get(row(src, s, k)), row(dst, d, k)), row(dst, d, k))
		}
	})
}
