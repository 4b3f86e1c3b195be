package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// LayerNorm writes the kernels of a layer norm.
func LayerNorm() {
	offsetSquares()
	offsetDots(true)
	offsetDots(false)
	for _, gain := range []bool{false, true} {
		for _, with := range []bool{false, true} {
			normalise(gain, with)
		}
	}
	normaliseGrad(true)
	normaliseGrad(false)
	normaliseSums(true)
	normaliseSums(false)
}

// quarter is how many elements are added in float64 at a time.
const quarter = Lanes / 2

// rowsOf returns a pointer to each of so many rows that are stride elements apart.
func rowsOf(p string, stride reg.GPVirtual, rows int) []reg.GPVirtual {
	at := []reg.GPVirtual{Arg(p)}
	for len(at) < rows {
		next := GP64()
		LEAQ(Mem{Base: at[len(at)-1], Index: stride, Scale: 4}, next)
		at = append(at, next)
	}
	return at
}

// each loads a float32 of each row into all lanes, with its sign turned.
func each(p string, rows int) []Vec {
	from, vs := Arg(p), make([]Vec, rows)
	sign := YMM()
	VMOVUPS(Wide(SignBit), sign)
	for k := range vs {
		vs[k] = YMM()
		VBROADCASTSS(Mem{Base: from, Disp: 4 * k}, vs[k])
		VXORPS(sign, vs[k], vs[k])
	}
	return vs
}

// quarters writes the loop over elements of several rows, whose four sums in float64 are
// at sums before and afterwards.
func quarters(rows int, body func(i reg.GPVirtual, sums []Vec)) {
	to, n, i := Arg("sums"), Arg("n"), GP64()
	acc := make([]Vec, rows)
	for k := range acc {
		acc[k] = YMM()
		VMOVUPD(Mem{Base: to, Disp: 32 * k}, acc[k])
	}
	XORQ(i, i)
	again := Fresh("again")
	Label(again)
	body(i, acc)
	ADDQ(Imm(quarter), i)
	CMPQ(i, n)
	JLT(LabelRef(again))
	for k := range acc {
		VMOVUPD(acc[k], Mem{Base: to, Disp: 32 * k})
	}
	Finish()
}

// offset returns four elements of a row without its mean; the mean and what that lost have
// their signs turned.
func offset(row, i reg.GPVirtual, mean, rest Vec) reg.VecVirtual {
	v := XMM()
	VADDPS(Mem{Base: row, Index: i, Scale: 4}, mean.AsX(), v)
	VADDPS(rest.AsX(), v, v)
	return v
}

// offsetSquares writes a sum of squares of four rows at a time: each has one sum for each
// lane, which would be waited for.
//
//	sums[k][j%4] += (x[k,j] − mean[k] − rest[k])²
func offsetSquares() {
	const rows = 4
	Start("offsetSquaresAVX2", "func(sums *float64, x *float32, stride, n int, mean, rest *float32)", "offsetSquaresAVX2 is OffsetRows.Squares of four rows, n being a multiple of 4.")
	x := rowsOf("x", Arg("stride"), rows)
	mean, rest := each("mean", rows), each("rest", rows)
	quarters(rows, func(i reg.GPVirtual, sums []Vec) {
		for k := range rows {
			e := YMM()
			VCVTPS2PD(offset(x[k], i, mean[k], rest[k]), e)
			VFMADD231PD(e, e, sums[k])
		}
	})
}

// offsetDots writes the inner products of rows of a gradient with rows less their means,
// two rows at a time.
//
//	g[k,j] = dy[k,j]·gain[j]
//	sums[k][j%4] += g[k,j]·(x[k,j] − mean[k] − rest[k])
func offsetDots(gain bool) {
	const rows = 2
	name, of := "offsetDotsAVX2", "dy, x"
	if gain {
		name, of = "offsetGainDotsAVX2", "dg, dy, x, gain"
	}
	Start(name, "func(sums *float64, "+of+" *float32, stride, n int, mean, rest *float32)", name+" is OffsetRows.Dots of two rows, n being a multiple of 4.")
	stride := Arg("stride")
	x, dy := rowsOf("x", stride, rows), rowsOf("dy", stride, rows)
	var g []reg.GPVirtual
	var by reg.GPVirtual
	if gain {
		g, by = rowsOf("dg", stride, rows), Arg("gain")
	}
	mean, rest := each("mean", rows), each("rest", rows)
	quarters(rows, func(i reg.GPVirtual, sums []Vec) {
		for k := range rows {
			e, d := YMM(), YMM()
			VCVTPS2PD(offset(x[k], i, mean[k], rest[k]), e)
			if gain {
				v := XMM()
				VMOVUPS(Mem{Base: by, Index: i, Scale: 4}, v)
				VMULPS(Mem{Base: dy[k], Index: i, Scale: 4}, v, v)
				VMOVUPS(v, Mem{Base: g[k], Index: i, Scale: 4})
				VCVTPS2PD(v, d)
			} else {
				VCVTPS2PD(Mem{Base: dy[k], Index: i, Scale: 4}, d)
			}
			VFMADD231PD(e, d, sums[k])
		}
	})
}

// normalise writes a normalised row, with a gain or without, and with a row that is added
// or without.
func normalise(gain, with bool) {
	name, more, of := "normalise", "", []string{"y", "x"}
	if gain {
		name, more, of = name+"Gain", more+", gain", append(of, "gain")
	}
	if with {
		name, more, of = name+"With", more+", with", append(of, "with")
	}
	name += "AVX2"
	Start(name, "func(y, x"+more+" *float32, n int, mean, rest, scale float32)", name+" is Normalise.")
	l := NewLoop(2, of...)
	mean, rest, scale := Broadcast("mean"), Broadcast("rest"), Broadcast("scale")
	l.Run(func() {
		v := Mul(Sub(Sub(l.Load("x"), mean), rest), scale)
		if gain {
			v = Mul(v, l.Operand("gain"))
		}
		if with {
			v = Add(v, l.Operand("with"))
		}
		l.Store(v, "y")
	})
	l.Finish()
}

// normaliseGrad writes the gradient of a normalised row, set or added.
func normaliseGrad(set bool) {
	name := "addNormaliseGradAVX2"
	if set {
		name = "setNormaliseGradAVX2"
	}
	Start(name, "func(dx, dg, x *float32, n int, mean, rest, scale, by, plus float32)", name+" is NormaliseGrad.")
	l := NewLoop(2, "dx", "dg", "x")
	mean, rest, scale := Broadcast("mean"), Broadcast("rest"), Broadcast("scale")
	by, plus := Broadcast("by"), Broadcast("plus")
	l.Run(func() {
		d := Add(Mul(scale, l.Operand("dg")), Add(Mul(Sub(Sub(l.Load("x"), mean), rest), by), plus))
		if set {
			d = Add(d, Num(0)) // what adding to zeros gives: no −0
		} else {
			d = Add(d, l.Operand("dx"))
		}
		l.Store(d, "dx")
	})
	l.Finish()
}

// normaliseSums writes what a row adds to the gradient of the gain, and to that of the
// bias.
func normaliseSums(bias bool) {
	name, of, pointers := "normaliseGainSumAVX2", "gain", []string{"gain", "x", "dy"}
	if bias {
		name, of, pointers = "normaliseSumsAVX2", "gain, bias", append(pointers, "bias")
	}
	Start(name, "func("+of+", x, dy *float32, n int, mean, rest, scale float32)", name+" is NormaliseSums.")
	l := NewLoop(2, pointers...)
	mean, rest, scale := Broadcast("mean"), Broadcast("rest"), Broadcast("scale")
	l.Run(func() {
		dy := l.Load("dy")
		v := Mul(Mul(Sub(Sub(l.Load("x"), mean), rest), scale), dy)
		l.Store(Add(v, l.Operand("gain")), "gain")
		if bias {
			l.Store(Add(dy, l.Operand("bias")), "bias")
		}
	})
	l.Finish()
}
