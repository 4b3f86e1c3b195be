package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// reductions writes sums, largest elements and inner products. Four partial
// results are in flight, so that the chain of additions is not what is waited
// for; how they are combined depends on n alone.
func reductions() {
	start("sumAVX2", "func(x *float32, n int) float32", "sumAVX2 is Sum.")
	l, acc := newLoop(4, "x"), partial(0)
	l.run(func() { VADDPS(l.load("x"), acc[l.u], acc[l.u]) })
	combine(acc, func(x, y vec) vec { return add(x, y) })
	finish()

	start("dotAVX2", "func(x, y *float32, n int) float32", "dotAVX2 is Dot.")
	l, acc = newLoop(4, "x", "y"), partial(0)
	l.run(func() { VFMADD231PS(l.load("x"), l.load("y"), acc[l.u]) })
	combine(acc, func(x, y vec) vec { return add(x, y) })
	finish()

	sum64()
	expSum()

	start("maxOfAVX2", "func(x *float32, n int) float32", "maxOfAVX2 is MaxOf.")
	l, acc = newLoop(4, "x"), partial(math.Inf(-1))
	nan := get(num(0))
	l.run(func() {
		v := l.load("x")
		if l.mask != nil {
			v = pick(l.mask, v, get(num(math.Inf(-1))))
		}
		VORPS(compare(unorder, v, v), nan, nan)
		VMAXPS(v, acc[l.u], acc[l.u])
	})
	for u := range acc {
		VORPS(nan, acc[u], acc[u]) // all ones are a NaN
	}
	combine(acc, func(x, y vec) vec { return pick(compare(unorder, x, x), x, higher(x, y)) })
	finish()
}

// expSum writes the numerators of a softmax of one row, and their sum. A
// difference of −∞ gives zero without further ado.
func expSum() {
	start("expSumAVX2", "func(y, x *float32, n int, top float32) float32", "expSumAVX2 is y = exp(x − top), and returns Σy.")
	l, acc := newLoop(3, "y", "x"), partial(0)
	top := broadcast("top")
	l.run(func() {
		e := expDown(sub(l.load("x"), top))
		if l.mask != nil {
			e = and(e, l.mask)
		}
		VADDPS(e, acc[l.u], acc[l.u])
		l.store(e, "y")
	})
	acc[3] = get(num(0)) // which three steps leave as it was
	combine(acc, func(x, y vec) vec { return add(x, y) })
	finish()
}

// sum64 writes a sum in float64.
func sum64() {
	start("sum64AVX2", "func(x *float32, n int) float64", "sum64AVX2 is Sum64.")
	l, acc := newLoop(4, "x"), partial(0)
	l.run(func() {
		low, high := YMM(), YMM()
		if l.mask == nil {
			VCVTPS2PD(l.at("x"), low)
			VCVTPS2PD(l.at("x").Offset(4*lanes/2), high)
		} else {
			v := l.load("x")
			VCVTPS2PD(v.AsX(), low)
			VEXTRACTF128(Imm(1), v, v.AsX())
			VCVTPS2PD(v.AsX(), high)
		}
		VADDPD(low, acc[l.u], acc[l.u])
		VADDPD(high, acc[l.u], acc[l.u])
	})
	VADDPD(acc[1], acc[0], acc[0])
	VADDPD(acc[3], acc[2], acc[2])
	VADDPD(acc[2], acc[0], acc[0])
	high := XMM()
	VEXTRACTF128(Imm(1), acc[0], high)
	v := acc[0].AsX()
	VADDPD(high, v, v)
	VPERMILPD(Imm(1), v, high)
	VADDSD(high, v, v)
	Store(v, ReturnIndex(0))
	finish()
}

// partial are four registers of a number.
func partial(from float64) (acc [4]vec) {
	for i := range acc {
		acc[i] = get(num(from))
	}
	return acc
}

// combine returns one number from four registers.
func combine(acc [4]vec, f func(x, y vec) vec) {
	v := f(f(acc[0], acc[1]), f(acc[2], acc[3]))
	for _, order := range []uint64{0x4e, 0xb1} { // the halves of each half, and of those
		if order == 0x4e {
			high := YMM()
			VPERM2F128(Imm(1), v, v, high)
			v = f(v, high)
		}
		turned := YMM()
		VPERMILPS(Imm(order), v, turned)
		v = f(v, turned)
	}
	Store(v.AsX(), ReturnIndex(0))
}
