package main

import (
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Where more fields of simd.Values are; a test compares them.
const valuesToCols, valuesKept, valuesStarts = 120, 144, 168

// keepValues writes simd.Values.Keep. What is kept cannot be foreseen, so there
// is no branch: eight are always stored, in an order that brings the kept ones
// to the front, and the next go over the others. Registers are few: what a row
// needs once stays in the struct.
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
		body := func(c, v vec) vec {
			count := mulInt(c, golden)
			VPADDD(key, count, count)
			w := andNot(bar.drops(count), mul(v, scale))
			zero, other, order := YMM(), YMM(), YMM()
			set, table := GP64(), GP64()
			LEAQ(orders, table)
			VXORPS(zero, zero, zero)
			VCMPPS(Imm(notEqual), zero, w, other)
			VMOVMSKPS(other, set.As32())
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
		eachValue(k, end, cols, from, to, body)
		starts := t.get(valuesStarts)
		ADDQ(Imm(8), starts)
		MOVQ(n, Mem{Base: starts})
		MOVQ(starts, t.field(valuesStarts))
		INCQ(t.field(valuesRow))
	})
	finish()
}

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
