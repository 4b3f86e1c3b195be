package main

// welford writes simd.Welford.
func welford() {
	start("welfordAVX2", "func(sum, mean, low, x *float32, n int, rows float32)", "welfordAVX2 is Welford.")
	l := newLoop(1, "sum", "mean", "low", "x")
	rows := broadcast("rows")
	l.run(func() {
		x, mean, low := l.load("x"), l.load("mean"), l.load("low")
		d := sub(sub(x, mean), low)
		e := div(d, rows)
		m := add(mean, e)
		took := sub(m, mean)
		low = add(add(sub(mean, sub(m, took)), sub(e, took)), low)
		sum := add(mul(d, sub(sub(x, m), low)), l.load("sum"))
		l.store(low, "low")
		l.store(m, "mean")
		l.store(sum, "sum")
	})
	finish()
}
