package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// FourNorm writes the kernels of norms whose sums are of four elements in float32.
func FourNorm() {
	fourMoments()
	for _, yes := range []bool{false, true} {
		normaliseBoth(yes)
		fourGradSums(yes)
		fourGrad(yes)
	}
}

// fours are sums over a row: of up to four registers in float32, and of those in float64.
type fours struct{ low, high, part Vec }

func newFours() *fours {
	f := &fours{low: YMM(), high: YMM()}
	VXORPD(f.low, f.low, f.low)
	VXORPD(f.high, f.high, f.high)
	return f
}

// add adds v to the sum in float32, which begins with it.
func (f *fours) add(v Vec) {
	if f.part == nil {
		f.part = v
		return
	}
	f.part = Add(f.part, v)
}

// addProduct adds x·y.
func (f *fours) addProduct(x, y Vec) {
	if f.part == nil {
		f.part = Mul(x, y)
		return
	}
	f.part = Plus(f.part, x, y)
}

// widen adds the sum in float32 to those in float64, and ends it.
func (f *fours) widen() {
	wide, top := YMM(), XMM()
	VCVTPS2PD(f.part.AsX(), wide)
	VADDPD(wide, f.low, f.low)
	VEXTRACTF128(Imm(1), f.part, top)
	VCVTPS2PD(top, wide)
	VADDPD(wide, f.high, f.high)
	f.part = nil
}

// result returns the sum of all.
func (f *fours) result(i int) {
	VADDPD(f.high, f.low, f.low)
	high, v := XMM(), f.low.AsX()
	VEXTRACTF128(Imm(1), f.low, high)
	VADDPD(high, v, v)
	VPERMILPD(Imm(1), v, high)
	VADDSD(high, v, v)
	Store(v, ReturnIndex(i))
}

// eachFour writes the loop of sums.
func eachFour(l *Loop, step func(), sums ...*fours) {
	l.Each(func(times int) {
		for u := range times {
			l.U = u
			step()
		}
		for _, f := range sums {
			f.widen()
		}
	})
	for i, f := range sums {
		f.result(i)
	}
	l.Finish()
}

// fourMoments writes a row's sum and that of its squares, less a number.
func fourMoments() {
	Start("fourMomentsAVX2", "func(x *float32, n int, shift float32) (sum, squares float64)", "fourMomentsAVX2 is FourMoments.")
	l, shift := NewLoop(4, "x"), Broadcast("shift")
	sum, squares := newFours(), newFours()
	eachFour(l, func() {
		ahead(l, "x")
		e := Sub(l.Load("x"), shift)
		if l.Mask != nil {
			e = And(e, l.Mask)
		}
		squares.addProduct(e, e)
		sum.add(e)
	}, sum, squares)
}

// rowAhead is how many bytes ahead rows are asked for that were written long ago: a row of 512.
const rowAhead = 2048

// ahead asks for elements of a later row, a line at a time.
func ahead(l *Loop, p string) {
	if l.U%2 == 0 && l.Mask == nil {
		PREFETCHT0(l.At(p).Offset(rowAhead))
	}
}

// fourGradSums writes what a row's gradient adds to those of the gain and of the bias, and the sums
// that the gradient of the row wants.
func fourGradSums(bias bool) {
	name, of, pointers := "fourGradSumsAVX2", "dgain", []string{"dgain", "dy", "x", "gain"}
	if bias {
		name, of, pointers = "fourGradSumsBiasAVX2", "dgain, dbias", append(pointers, "dbias")
	}
	Start(name, "func("+of+", dy, x, gain *float32, n int, mean, rest, scale float32) (sum, dot float64)", name+" is NormRow.GradSums.")
	l := NewLoop(4, pointers...)
	mean, rest, scale := Broadcast("mean"), Broadcast("rest"), Broadcast("scale")
	sum, dot := newFours(), newFours()
	eachFour(l, func() {
		ahead(l, "x")
		y, dy := Mul(Sub(Sub(l.Load("x"), mean), rest), scale), l.Load("dy")
		g := Mul(dy, l.Operand("gain"))
		dot.addProduct(g, y)
		if sum.add(g); bias {
			l.Store(Add(dy, l.Operand("dbias")), "dbias")
		}
		l.Store(Plus(l.Load("dgain"), dy, y), "dgain")
	}, sum, dot)
}

// fourGrad writes the gradient of a row, set or added.
func fourGrad(set bool) {
	name := "fourGradAddAVX2"
	if set {
		name = "fourGradSetAVX2"
	}
	Start(name, "func(dx, dy, x, gain *float32, n int, mean, rest, scale, slope, at0 float32)", name+" is NormRow.Grad.")
	l := NewLoop(2, "dx", "dy", "x", "gain")
	mean, rest, scale := Broadcast("mean"), Broadcast("rest"), Broadcast("scale")
	slope, at0 := Broadcast("slope"), Broadcast("at0")
	l.Run(func() {
		d := Add(Mul(l.Load("dy"), l.Operand("gain")), at0)
		d = Plus(d, Sub(Sub(l.Load("x"), mean), rest), slope)
		if set {
			d = Mul(d, scale)
		} else {
			d = MulAdd(d, scale, l.Operand("dx"))
		}
		l.Store(d, "dx")
	})
	l.Finish()
}

// normaliseBoth writes the sum of two normalised rows.
func normaliseBoth(bias bool) {
	name, of, pointers := "normaliseBothAVX2", "", []string{"y", "x", "gain", "x2", "gain2"}
	if bias {
		name, of, pointers = "normaliseBothBiasAVX2", ", bias", append(pointers, "bias")
	}
	Start(name, "func(y, x, gain, x2, gain2"+of+" *float32, n int, mean, rest, scale, mean2, rest2, scale2 float32)", name+" is NormRow.NormaliseWith.")
	l := NewLoop(2, pointers...)
	mean, rest, scale := Broadcast("mean"), Broadcast("rest"), Broadcast("scale")
	mean2, rest2, scale2 := Broadcast("mean2"), Broadcast("rest2"), Broadcast("scale2")
	l.Run(func() {
		v := Mul(Sub(Sub(l.Load("x"), mean), rest), scale)
		if bias {
			v = MulAdd(v, l.Load("gain"), l.Operand("bias"))
		} else {
			v = Mul(v, l.Operand("gain"))
		}
		l.Store(Plus(v, Mul(Sub(Sub(l.Load("x2"), mean2), rest2), scale2), l.Operand("gain2")), "y")
	})
	l.Finish()
}
