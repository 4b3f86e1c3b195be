package spmm

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// DropValues writes Values.Drop.
//
//	To[k] = From[k]·scale where Keep, else 0
func DropValues() {
	t := StartOn("Values", "dropValuesAVX2", "", "dropValuesAVX2 is Values.Drop.")
	cols, from, to := t.Word("Cols"), t.Word("From"), t.Word("To")
	k0, k1, scale := t.Everywhere("k0"), t.Everywhere("k1"), t.Everywhere("scale")
	bar := NewThreshold(t.Field("drop"))
	row := t.Word("Row")
	t.Rows(func(k, end reg.GPVirtual) {
		// The hash of the row, in all lanes.
		key := YMM()
		VMOVD(row.As32(), key.AsX())
		VPBROADCASTD(key.AsX(), key)
		VPADDD(k0, key, key)
		key = Mix(key)
		VPXOR(k1, key, key)
		kept := func(c, v Vec) Vec {
			// That of each column; 0 where it is below the threshold.
			VPMULLD(Wide(Golden), c, c)
			VPADDD(key, c, c)
			return AndNot(bar.Drops(c), Mul(v, scale))
		}
		eachValue(k, end, cols, from, to, kept)
		INCQ(row)
	})
	Finish()
}

// eachValue writes a loop over the elements k to end of a row, eight at a time:
// it stores what f makes of their columns and values.
func eachValue(k, end, cols, from, to reg.GPVirtual, f func(c, v Vec) Vec) {
	last, done, again := Fresh("last"), Fresh("done"), Fresh("again")
	SUBQ(k, end)
	SUBQ(Imm(8), end)
	JL(LabelRef(last))
	Label(again)
	// Whole registers.
	c := YMM()
	VMOVDQU(Mem{Base: cols, Index: k, Scale: 4}, c)
	VMOVUPS(f(c, Get(Mem{Base: from, Index: k, Scale: 4})), Mem{Base: to, Index: k, Scale: 4})
	ADDQ(Imm(8), k)
	SUBQ(Imm(8), end)
	JGE(LabelRef(again))
	// The last few, masked.
	Label(last)
	ADDQ(Imm(8), end)
	JZ(LabelRef(done))
	mask, v := MaskOf(end), YMM()
	c = YMM()
	VPMASKMOVD(Mem{Base: cols, Index: k, Scale: 4}, mask, c)
	VMASKMOVPS(Mem{Base: from, Index: k, Scale: 4}, mask, v)
	StoreFirst(f(c, v), end, Mem{Base: to, Index: k, Scale: 4})
	Label(done)
}
