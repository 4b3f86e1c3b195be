package vec

import . "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"

// Welford writes Welford.
func Welford() {
	Start("welfordAVX2", "func(sum, mean, low, x *float32, n int, rows float32)", "welfordAVX2 is Welford.")
	l := NewLoop(1, "sum", "mean", "low", "x")
	rows := Broadcast("rows")
	l.Run(func() {
		x, mean, low := l.Load("x"), l.Load("mean"), l.Load("low")
		d := Sub(Sub(x, mean), low)
		e := Div(d, rows)
		m := Add(mean, e)
		took := Sub(m, mean)
		low = Add(Add(Sub(mean, Sub(m, took)), Sub(e, took)), low)
		sum := Add(Mul(d, Sub(Sub(x, m), low)), l.Load("sum"))
		l.Store(low, "low")
		l.Store(m, "mean")
		l.Store(sum, "sum")
	})
	Finish()
}
