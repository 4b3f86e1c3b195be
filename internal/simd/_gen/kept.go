package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Where more fields of simd.Values are; a test compares them.
const valuesToCols, valuesKept, valuesStarts, valuesInner = 120, 144, 168, 192

// keepValues writes simd.Values.Keep. What is kept cannot be foreseen, so there
// is no branch: eight are always stored, in an order that brings the kept ones
// to the front, and the next go over the others. Nor is there one for the end of
// a row: what lies beyond it is computed with the rest, stored where the next row
// will store, and not counted; only the last rows, which have no eight elements
// behind them, are treated with more care. Registers are few: what a row needs
// once stays in the struct.
func keepValues() {
	t := newTile("keepValuesAVX2", 0, "Values.Keep")
	orders := frontOrders()
	cols, from, to := t.get(valuesCols), t.get(valuesFrom), t.get(valuesTo)
	toCols, kept, n := t.get(valuesToCols), t.get(valuesKept), GP64()
	MOVQ(t.field(valuesStarts), n)
	MOVQ(Mem{Base: n}, n)
	scale := t.all(valuesScale)
	bar := newThreshold(t.field(valuesDrop))
	t.rows(func(k, end reg.GPVirtual) {
		key, k0, k1 := YMM(), YMM(), YMM()
		VPBROADCASTD(t.field(valuesRow), key)
		VPBROADCASTD(t.field(valuesK0), k0)
		VPBROADCASTD(t.field(valuesK1), k1)
		VPADDD(k0, key, key)
		key = mix(key)
		VPXOR(k1, key, key)
		inner, done := fresh("inner"), fresh("kept")
		body := func(c, v vec, first Mem) vec {
			count := mulInt(c, golden)
			VPADDD(key, count, count)
			w := andNot(bar.drops(count), mul(v, scale))
			zero, other, order := YMM(), YMM(), YMM()
			set, table := GP64(), GP64()
			LEAQ(orders, table)
			VXORPS(zero, zero, zero)
			VCMPPS(Imm(notEqual), zero, w, other)
			VMOVMSKPS(other, set.As32())
			if first.Base != nil {
				ANDL(first, set.As32())
			}
			VPMOVZXBD(Mem{Base: table, Index: set, Scale: 8}, order)
			POPCNTQ(set, set)
			frontC, frontW := YMM(), YMM()
			VPERMD(c, order, frontC)
			VPERMPS(w, order, frontW)
			VMOVDQU(frontC, Mem{Base: toCols, Index: n, Scale: 4})
			VMOVUPS(frontW, Mem{Base: kept, Index: n, Scale: 4})
			ADDQ(set, n)
			return w
		}
		CMPQ(end, t.field(valuesInner))
		JLE(LabelRef(inner))
		eachValue(k, end, cols, from, to, func(c, v vec) vec { return body(c, v, Mem{}) })
		JMP(LabelRef(done))
		Label(inner)
		eachWhole(k, end, cols, from, to, body)
		Label(done)
		starts := t.get(valuesStarts)
		ADDQ(Imm(8), starts)
		MOVQ(n, Mem{Base: starts})
		MOVQ(starts, t.field(valuesStarts))
		INCQ(t.field(valuesRow))
	})
	finish()
}

// eachWhole is eachValue of a row that eight elements come after: it reads and
// stores eight at a time to the end and beyond. first is the set of lanes that
// are the row's; the zero value is all.
func eachWhole(k, end, cols, from, to reg.GPVirtual, f func(c, v vec, first Mem) vec) {
	last, again := fresh("last"), fresh("whole")
	eight := func(first Mem) {
		c := YMM()
		VMOVDQU(Mem{Base: cols, Index: k, Scale: 4}, c)
		VMOVUPS(f(c, get(Mem{Base: from, Index: k, Scale: 4}), first), Mem{Base: to, Index: k, Scale: 4})
	}
	SUBQ(k, end)
	SUBQ(Imm(8), end)
	JL(LabelRef(last))
	Label(again)
	eight(Mem{})
	ADDQ(Imm(8), k)
	SUBQ(Imm(8), end)
	JGE(LabelRef(again))
	Label(last)
	sets := GP64()
	LEAQ(firstSets(), sets)
	eight(Mem{Base: sets, Index: end, Scale: 4, Disp: 4 * lanes}) // end is what is left, less eight
}

// firstSets is the set of the first 0, 1, … 7 lanes.
func firstSets() Mem {
	if firstSetsAt == nil {
		m := GLOBL("firstSets", 24) // RODATA | NOPTR
		for n := range lanes {
			DATA(4*n, U32(uint32(1<<n-1)))
		}
		firstSetsAt = &m
	}
	return *firstSetsAt
}

var firstSetsAt *Mem

// notEqual is the comparison ≠, which a NaN passes.
const notEqual = 4

// frontOrders is, for each set of lanes, the order that brings those to the
// front, a byte a lane.
func frontOrders() Mem {
	m := GLOBL("frontOrders", 24) // RODATA | NOPTR
	for set := range uint(1 << lanes) {
		order, at := uint64(0), 0
		for rest := set; rest != 0; rest &= rest - 1 {
			order |= uint64(bits.TrailingZeros(rest)) << (8 * at)
			at++
		}
		DATA(8*int(set), U64(order))
	}
	return m
}
