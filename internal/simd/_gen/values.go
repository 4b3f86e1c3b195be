package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dropValues writes simd.Values.Drop.
func dropValues() {
	t := newTile("Values", "dropValuesAVX2", 0, "Values.Drop")
	cols, from, to := t.word("Cols"), t.word("From"), t.word("To")
	k0, k1, scale := t.everywhere("k0"), t.everywhere("k1"), t.everywhere("scale")
	bar := newThreshold(t.field("drop"))
	row := t.word("Row")
	t.rows(func(k, end reg.GPVirtual) {
		key := YMM()
		VMOVD(row.As32(), key.AsX())
		VPBROADCASTD(key.AsX(), key)
		VPADDD(k0, key, key)
		key = mix(key)
		VPXOR(k1, key, key)
		kept := func(c, v vec) vec {
			VPMULLD(wide(golden), c, c)
			VPADDD(key, c, c)
			return andNot(bar.drops(c), mul(v, scale))
		}
		eachValue(k, end, cols, from, to, kept)
		INCQ(row)
	})
	finish()
}

// eachValue writes a loop over the elements k to end of a row, eight at a time:
// it stores what f makes of their columns and values.
func eachValue(k, end, cols, from, to reg.GPVirtual, f func(c, v vec) vec) {
	last, done, again := fresh("last"), fresh("done"), fresh("again")
	SUBQ(k, end)
	SUBQ(Imm(8), end)
	JL(LabelRef(last))
	Label(again)
	c := YMM()
	VMOVDQU(Mem{Base: cols, Index: k, Scale: 4}, c)
	VMOVUPS(f(c, get(Mem{Base: from, Index: k, Scale: 4})), Mem{Base: to, Index: k, Scale: 4})
	ADDQ(Imm(8), k)
	SUBQ(Imm(8), end)
	JGE(LabelRef(again))
	Label(last)
	ADDQ(Imm(8), end)
	JZ(LabelRef(done))
	mask, v := maskOf(end), YMM()
	c = YMM()
	VPMASKMOVD(Mem{Base: cols, Index: k, Scale: 4}, mask, c)
	VMASKMOVPS(Mem{Base: from, Index: k, Scale: 4}, mask, v)
	storeFirst(f(c, v), end, Mem{Base: to, Index: k, Scale: 4})
	Label(done)
}
