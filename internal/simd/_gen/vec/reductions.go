package vec

import (
	"math"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// Reductions writes sums, largest elements and inner products. Four partial
// results are in flight, so that the chain of additions is not what is waited
// for; how they are combined depends on n alone.
func Reductions() {
	Start("sumAVX2", "func(x *float32, n int) float32", "sumAVX2 is Sum.")
	l, acc := NewLoop(4, "x"), partial(0)
	// Σ x[i]
	l.Run(func() { VADDPS(l.Load("x"), acc[l.U], acc[l.U]) })
	combine(acc, func(x, y Vec) Vec { return Add(x, y) })
	Finish()

	Start("dotAVX2", "func(x, y *float32, n int) float32", "dotAVX2 is Dot.")
	l, acc = NewLoop(4, "x", "y"), partial(0)
	// Σ x[i]·y[i]
	l.Run(func() { VFMADD231PS(l.Load("x"), l.Load("y"), acc[l.U]) })
	combine(acc, func(x, y Vec) Vec { return Add(x, y) })
	Finish()

	sum64()
	expSum()

	Start("maxOfAVX2", "func(x *float32, n int) float32", "maxOfAVX2 is MaxOf.")
	l, acc = NewLoop(4, "x"), partial(math.Inf(-1))
	// max x[i], and whether there is a NaN
	nan := Get(Num(0))
	l.Run(func() {
		v := l.Load("x")
		if l.Mask != nil {
			v = Pick(l.Mask, v, Get(Num(math.Inf(-1))))
		}
		VORPS(Compare(Unorder, v, v), nan, nan)
		VMAXPS(v, acc[l.U], acc[l.U])
	})
	for u := range acc {
		VORPS(nan, acc[u], acc[u]) // all ones are a NaN
	}
	combine(acc, func(x, y Vec) Vec { return Pick(Compare(Unorder, x, x), x, Higher(x, y)) })
	Finish()
}

// expSum writes the numerators of a softmax of one row, and their sum. A
// difference of −∞ gives zero without further ado.
//
//	y[i] = exp(x[i] − top)    returns Σ y[i]
func expSum() {
	Start("expSumAVX2", "func(y, x *float32, n int, top float32) float32", "expSumAVX2 is y = exp(x − top), and returns Σy.")
	l, acc := NewLoop(3, "y", "x"), partial(0)
	top := Broadcast("top")
	l.Run(func() {
		e := ExpDown(Sub(l.Load("x"), top))
		if l.Mask != nil {
			e = And(e, l.Mask)
		}
		VADDPS(e, acc[l.U], acc[l.U])
		l.Store(e, "y")
	})
	acc[3] = Get(Num(0)) // which three steps leave as it was
	combine(acc, func(x, y Vec) Vec { return Add(x, y) })
	Finish()
}

// sum64 writes a sum in float64.
func sum64() {
	Start("sum64AVX2", "func(x *float32, n int) float64", "sum64AVX2 is Sum64.")
	l, acc := NewLoop(4, "x"), partial(0)
	l.Run(func() {
		// Widen eight floats to two registers of doubles, and add both.
		low, high := YMM(), YMM()
		if l.Mask == nil {
			VCVTPS2PD(l.At("x"), low)
			VCVTPS2PD(l.At("x").Offset(4*Lanes/2), high)
		} else {
			v := l.Load("x")
			VCVTPS2PD(v.AsX(), low)
			VEXTRACTF128(Imm(1), v, v.AsX())
			VCVTPS2PD(v.AsX(), high)
		}
		VADDPD(low, acc[l.U], acc[l.U])
		VADDPD(high, acc[l.U], acc[l.U])
	})
	// Sum the four registers, the halves, and the two lanes.
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
	Finish()
}

// partial are four registers of a number.
func partial(from float64) (acc [4]Vec) {
	for i := range acc {
		acc[i] = Get(Num(from))
	}
	return acc
}

// combine returns one number from four registers.
func combine(acc [4]Vec, f func(x, y Vec) Vec) {
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
