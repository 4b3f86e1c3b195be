package main

// adam writes Adam.Step.
func adam() {
	start("adamAVX2", "func(w, dw, m, v *float32, n int, a *Adam)", "adamAVX2 is Adam.Step.")
	l := newLoop(1, "w", "dw", "m", "v") // its root and its quotient take longest, whatever is unrolled
	a := argsIn(param("a"), "Adam")
	rate, decay, k1 := a.everywhere("Rate"), a.everywhere("Decay"), a.everywhere("Gain1")
	keep2, k2 := a.everywhere("Keep2"), a.everywhere("Gain2")
	root, eps := a.everywhere("Root"), a.everywhere("Eps")
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
