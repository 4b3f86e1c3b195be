package spmm

import (
	"math/bits"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// KeepValues writes Values.Keep. What is kept cannot be foreseen, so there
// is no branch: eight are always stored, in an order that brings the kept ones
// to the front, and the next go over the others. Nor is there one for the end of
// a row: what lies beyond it is computed with the rest and not counted; only the
// last rows, which have no eight elements behind them, are treated with more
// care. Registers are few: what a row needs once stays in the struct.
//
//	ToCols[n], Kept[n] = Cols[k], From[k]·scale    for the k where Keep and that is not 0, in order
func KeepValues() {
	t := StartOn("Values", "keepValuesAVX2", "", "keepValuesAVX2 is Values.Keep.")
	orders := frontOrders()
	cols, from := t.Word("Cols"), t.Word("From")
	toCols, kept, n := t.Word("ToCols"), t.Word("Kept"), GP64()
	MOVQ(t.Field("Starts"), n)
	MOVQ(Mem{Base: n}, n)
	scale := t.Everywhere("scale")
	bar := NewThreshold(t.Field("drop"))
	t.Rows(func(k, end reg.GPVirtual) {
		// The hash of the row, in all lanes.
		key, k0, k1 := YMM(), YMM(), YMM()
		VPBROADCASTD(t.Field("Row"), key)
		VPBROADCASTD(t.Field("k0"), k0)
		VPBROADCASTD(t.Field("k1"), k1)
		VPADDD(k0, key, key)
		key = Mix(key)
		VPXOR(k1, key, key)
		keep := func(c, v Vec, first Mem) {
			// Which of eight are kept: by the hashes of their columns, and not 0.
			count := MulInt(c, Golden)
			VPADDD(key, count, count)
			w := AndNot(bar.Drops(count), Mul(v, scale))
			zero, other, order := YMM(), YMM(), YMM()
			set, table := GP64(), GP64()
			LEAQ(orders, table)
			VXORPS(zero, zero, zero)
			VCMPPS(Imm(Unequal), zero, w, other)
			VMOVMSKPS(other, set.As32())
			if first.Base != nil {
				ANDL(first, set.As32())
			}
			// Bring those to the front, store all eight, and go on by as many as are kept.
			VPMOVZXBD(Mem{Base: table, Index: set, Scale: 8}, order)
			POPCNTQ(set, set)
			VPERMD(c, order, c)
			VPERMPS(w, order, w)
			VMOVDQU(c, Mem{Base: toCols, Index: n, Scale: 4})
			VMOVUPS(w, Mem{Base: kept, Index: n, Scale: 4})
			ADDQ(set, n)
		}
		// Whether the row has eight elements after it.
		inner, done := Fresh("inner"), Fresh("kept")
		SUBQ(k, end)
		starts := t.Word("inner")
		SUBQ(k, starts)
		CMPQ(end, starts)
		JLE(LabelRef(inner))
		eachCareful(k, end, cols, from, func(c, v Vec) { keep(c, v, Mem{}) })
		JMP(LabelRef(done))
		Label(inner)
		eachWhole(k, end, cols, from, keep)
		Label(done)
		// Where the next row starts.
		starts = t.Word("Starts")
		ADDQ(Imm(8), starts)
		MOVQ(n, Mem{Base: starts})
		MOVQ(starts, t.Field("Starts"))
		INCQ(t.Field("Row"))
	})
	Finish()
}

// eachWhole gives f the columns and values of a row of n elements from k on that
// eight come after: it reads eight at a time to the end and beyond. first is the
// set of lanes that are the row's; the zero value is all.
func eachWhole(k, n, cols, from reg.GPVirtual, f func(c, v Vec, first Mem)) {
	last, again := Fresh("last"), Fresh("whole")
	eight := func(first Mem) {
		c := YMM()
		VMOVDQU(Mem{Base: cols, Index: k, Scale: 4}, c)
		f(c, Get(Mem{Base: from, Index: k, Scale: 4}), first)
	}
	SUBQ(Imm(8), n)
	JL(LabelRef(last))
	Label(again)
	eight(Mem{})
	ADDQ(Imm(8), k)
	SUBQ(Imm(8), n)
	JGE(LabelRef(again))
	Label(last)
	sets := GP64()
	LEAQ(firstSets(), sets)
	eight(Mem{Base: sets, Index: n, Scale: 4, Disp: 4 * Lanes}) // n is what is left, less eight
}

// eachCareful is eachWhole of a row that memory may end with; beyond it there are
// zeros.
func eachCareful(k, n, cols, from reg.GPVirtual, f func(c, v Vec)) {
	again, done := Fresh("careful"), Fresh("done")
	Label(again)
	TESTQ(n, n)
	JLE(LabelRef(done))
	count, eight := GP64(), GP64()
	MOVQ(U32(Lanes), eight)
	MOVQ(n, count)
	CMPQ(count, eight)
	CMOVQGT(eight, count)
	mask, c, v := MaskOf(count), YMM(), YMM()
	VPMASKMOVD(Mem{Base: cols, Index: k, Scale: 4}, mask, c)
	VMASKMOVPS(Mem{Base: from, Index: k, Scale: 4}, mask, v)
	f(c, v)
	ADDQ(Imm(8), k)
	SUBQ(Imm(8), n)
	JMP(LabelRef(again))
	Label(done)
}

// firstSets is the set of the first 0, 1, … 7 lanes.
func firstSets() Mem {
	m := GLOBL("firstSets", 24) // RODATA | NOPTR
	for n := range Lanes {
		DATA(4*n, U32(uint32(1<<n-1)))
	}
	return m
}

// frontOrders is, for each set of lanes, the order that brings those to the
// front, a byte a lane.
func frontOrders() Mem {
	m := GLOBL("frontOrders", 24) // RODATA | NOPTR
	for set := range uint(1 << Lanes) {
		order, at := uint64(0), 0
		for rest := set; rest != 0; rest &= rest - 1 {
			order |= uint64(bits.TrailingZeros(rest)) << (8 * at)
			at++
		}
		DATA(8*int(set), U64(order))
	}
	return m
}
