package vec

import . "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"

// Adam writes Adam.Step.
func Adam() {
	Start("adamAVX2", "func(w, dw, m, v *float32, n int, a *Adam)", "adamAVX2 is Adam.Step.")
	l := NewLoop(1, "w", "dw", "m", "v") // its root and its quotient take longest, whatever is unrolled
	a := ArgsIn(Arg("a"), "Adam")
	rate, decay, k1 := a.Everywhere("Rate"), a.Everywhere("Decay"), a.Everywhere("Gain1")
	keep2, k2 := a.Everywhere("Keep2"), a.Everywhere("Gain2")
	root, eps := a.Everywhere("Root"), a.Everywhere("Eps")
	l.Run(func() {
		// g = dw + decay·w
		w, g := l.Load("w"), l.Load("dw")
		g = Plus(g, decay, w)
		// m += (1−β₁)·(g − m)    v = β₂·v + (1−β₂)·g²
		m := l.Load("m")
		m = Plus(m, k1, Sub(g, m))
		v := Plus(Mul(Mul(g, g), k2), keep2, l.Load("v"))
		// w −= rate·m / (√v·root + ε)
		below := MulAdd(Sqrt(v), root, eps)
		w = Sub(w, Div(Mul(m, rate), below))
		l.Store(m, "m")
		l.Store(v, "v")
		l.Store(w, "w")
	})
	Finish()
}
