package main

// unary writes the forward kernels y = f(x) and the backward kernels
// dx += dy·f'(x) of simd.Unary.
func unary() {
	for _, f := range []struct {
		name   string
		unroll int
		f      func(x, c vec) vec
	}{
		{"scale", 4, func(x, c vec) vec { return mul(x, c) }},
		{"shift", 4, func(x, c vec) vec { return add(x, c) }},
		{"relu", 4, func(x, _ vec) vec { return higher(get(num(0)), x) }},
		{"leakyReLU", 4, func(x, c vec) vec { return pick(compare(greater, x, num(0)), x, mul(x, c)) }},
		{"elu", 1, func(x, c vec) vec {
			m := expMinus1(lower(get(num(0)), x))
			return pick(compare(greater, x, num(0)), x, mul(m, c))
		}},
		{"sigmoid", 1, func(x, _ vec) vec { return sigmoid(x) }},
		{"tanh", 1, func(x, _ vec) vec { return tanh(x) }},
		{"softplus", 1, func(x, _ vec) vec { return softplus(x) }},
		{"silu", 1, func(x, _ vec) vec { return mul(sigmoid(x), x) }},
		{"exp", 1, func(x, _ vec) vec { return exp(x) }},
		{"log", 1, func(x, _ vec) vec { return log(x) }},
		{"sqrt", 1, func(x, _ vec) vec { return sqrt(x) }},
		{"abs", 4, func(x, _ vec) vec { return and(x, wide(^uint32(signBit))) }},
		{"square", 4, func(x, _ vec) vec { return mul(x, x) }},
		{"reciprocal", 1, func(x, _ vec) vec { return div(get(num(1)), x) }},
	} {
		start(f.name+"AVX2", "func(y, x *float32, n int, c float32)", f.name+"AVX2 is Unary.Forward.")
		l := newLoop(f.unroll, "y", "x")
		c := broadcast("c")
		l.run(func() { l.store(f.f(l.load("x"), c), "y") })
		finish()
	}
	for _, f := range []struct {
		name   string
		unroll int
		f      func(l *loop, c vec) vec // of dy and x or y
	}{
		{"scale", 4, func(l *loop, c vec) vec { return mul(l.load("dy"), c) }},
		{"relu", 4, func(l *loop, _ vec) vec { return and(l.load("dy"), compare(greater, l.load("x"), num(0))) }},
		{"leakyReLU", 4, func(l *loop, c vec) vec {
			g := l.load("dy")
			return pick(compare(greater, l.load("x"), num(0)), g, mul(g, c))
		}},
		{"elu", 2, func(l *loop, c vec) vec {
			g := l.load("dy")
			return pick(compare(greater, l.load("x"), num(0)), g, mul(add(l.load("y"), c), g))
		}},
		{"sigmoid", 2, func(l *loop, _ vec) vec {
			y := l.load("y")
			return mul(mul(l.load("dy"), y), sub(get(num(1)), y))
		}},
		{"tanh", 2, func(l *loop, _ vec) vec {
			y := l.load("y")
			return mul(l.load("dy"), sub(get(num(1)), mul(y, y)))
		}},
		{"softplus", 1, func(l *loop, _ vec) vec { return mul(sigmoid(l.load("x")), l.load("dy")) }},
		{"silu", 1, func(l *loop, _ vec) vec {
			s := sigmoid(l.load("x"))
			return mul(mulAdd(sub(get(num(1)), s), l.load("y"), s), l.load("dy"))
		}},
		{"log", 1, func(l *loop, _ vec) vec { return div(l.load("dy"), l.load("x")) }},
		{"sqrt", 1, func(l *loop, _ vec) vec {
			y := l.load("y")
			return div(l.load("dy"), add(y, y))
		}},
		{"square", 4, func(l *loop, _ vec) vec {
			g := l.load("dy")
			return mul(add(g, g), l.load("x"))
		}},
		{"reciprocal", 2, func(l *loop, _ vec) vec {
			y := l.load("y")
			return xor(mul(mul(l.load("dy"), y), y), wide(signBit))
		}},
	} {
		start(f.name+"GradAVX2", "func(dx, dy, x, y *float32, n int, c float32)", f.name+"GradAVX2 is Unary.Backward.")
		l := newLoop(f.unroll, "dx", "dy", "x", "y")
		c := broadcast("c")
		l.run(func() {
			g := f.f(l, c)
			l.store(add(g, l.load("dx")), "dx")
		})
		finish()
	}
}
