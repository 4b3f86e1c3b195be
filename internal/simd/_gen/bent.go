package main

import (
	. "github.com/mmcloughlin/avo/build"
)

// dropELU writes simd.Dropout.ELU of some rows.
func dropELU() {
	dropRows(dropKernel{
		name: "dropELUAVX2", comment: "dropELUAVX2 is Dropout.ELU of rows.",
		params: "dst, src, bias", unroll: 2, rows: []string{"dst", "src"}, fixed: []string{"bias"},
	}, columnHashes(), func(l *loop, drops, scale vec) vec {
		x := add(l.load("src"), l.operand("bias"))
		y := mulAdd(expOrSelf(x), scale, num(0))
		return pick(drops, get(wide(signBit)), y)
	})
}

// expOrSelf is ELU of x.
func expOrSelf(x vec) vec {
	m := expMinus1(lower(get(num(0)), x))
	return pick(compare(greater, x, num(0)), x, m)
}

// dropELUGrad writes simd.Dropout.ELUGrad.
func dropELUGrad() {
	start("dropELUGradAVX2", "func(dx, dy, y *float32, n int, scale float32)", "dropELUGradAVX2 is Dropout.ELUGrad.")
	l := newLoop(4, "dx", "dy", "y")
	scale := broadcast("scale")
	l.run(func() {
		y := l.load("y")
		dropped := YMM()
		VPCMPEQD(wide(signBit), y, dropped)
		slope := add(lower(get(num(0)), y), scale)
		l.store(andNot(made(dropped), mul(slope, l.operand("dy"))), "dx")
	})
	l.finish()
}
