package vec

import (
	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
	. "github.com/mmcloughlin/avo/build"
)

// DropELU writes Dropout.ELU of some rows.
//
//	dst = ELU(src + bias)·scale where Keep, else −0
func DropELU() {
	dropRows(dropKernel{
		name: "dropELUAVX2", comment: "dropELUAVX2 is Dropout.ELU of rows.",
		params: "dst, src, bias", unroll: 2, rows: []string{"dst", "src"}, fixed: []string{"bias"},
	}, columnHashes(), func(l *Loop, drops, scale Vec) Vec {
		x := Add(l.Load("src"), l.Operand("bias"))
		y := MulAdd(expOrSelf(x), scale, Num(0))
		return Pick(drops, Get(Wide(SignBit)), y)
	})
}

// expOrSelf is ELU of x.
func expOrSelf(x Vec) Vec {
	m := ExpMinus1(Lower(Get(Num(0)), x))
	return Pick(Compare(Greater, x, Num(0)), x, m)
}

// DropELUGrad writes Dropout.ELUGrad.
//
//	dx = dy·(scale where y > 0, else y + scale), and 0 where y is −0
func DropELUGrad() {
	Start("dropELUGradAVX2", "func(dx, dy, y *float32, n int, scale float32)", "dropELUGradAVX2 is Dropout.ELUGrad.")
	l := NewLoop(4, "dx", "dy", "y")
	scale := Broadcast("scale")
	l.Run(func() {
		// −0 says that the element was dropped.
		y := l.Load("y")
		dropped := YMM()
		VPCMPEQD(Wide(SignBit), y, dropped)
		slope := Add(Lower(Get(Num(0)), y), scale)
		l.Store(AndNot(Made(dropped), Mul(slope, l.Operand("dy"))), "dx")
	})
	l.Finish()
}
