package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// adam writes simd.Adam.Step. The numbers come in the order of Adam's fields.
func adam() {
	start("adamAVX2", "func(w, dw, m, v *float32, n int, numbers *float32)", "adamAVX2 is Adam.Step.")
	l := newLoop(1, "w", "dw", "m", "v") // its root and its quotient take longest, whatever is unrolled
	at := Load(Param("numbers"), GP64())
	var k [7]vec
	for i := range k {
		k[i] = YMM()
		VBROADCASTSS(Mem{Base: at, Disp: 4 * i}, k[i])
	}
	rate, decay, k1, keep2, k2, root, eps := k[0], k[1], k[2], k[3], k[4], k[5], k[6]
	l.run(func() {
		w, g := l.load("w"), l.load("dw")
		g = plus(g, decay, w)
		m := l.load("m")
		m = plus(m, k1, sub(g, m))
		v := plus(mul(mul(g, g), k2), keep2, l.load("v"))
		below := mulAdd(sqrt(v), root, eps)
		w = sub(w, div(mul(m, rate), below))
		l.store(m, "m")
		l.store(v, "v")
		l.store(w, "w")
	})
	finish()
}
