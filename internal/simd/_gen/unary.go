package main

import "slices"

// seluGain and seluBend are λ and α of SELU; simd.Unary has them too.
const (
	seluGain = 1.0507009873554805
	seluBend = 1.6732632423543772
)

// usual is a value that is nowhere odd.
func usual(v vec) value { return value{v: v} }

// unary writes the forward kernels y = f(x) of simd.Unary.
func unary() {
	type step func(l *loop, x, c vec) value
	simple := func(f func(x, c vec) vec) step { return func(_ *loop, x, c vec) value { return usual(f(x, c)) } }
	for _, f := range []struct {
		name   string
		unroll int
		f      step
	}{
		{"scale", 4, simple(func(x, c vec) vec { return mul(x, c) })},
		{"shift", 4, simple(func(x, c vec) vec { return add(x, c) })},
		{"relu", 4, simple(func(x, _ vec) vec { return higher(get(num(0)), x) })},
		{"leakyReLU", 4, simple(func(x, c vec) vec { return pick(compare(greater, x, num(0)), x, mul(x, c)) })},
		{"elu", 3, simple(func(x, c vec) vec { return bend(x, c, func() vec { return x }) })},
		{"selu", 3, simple(func(x, c vec) vec { return bend(x, c, func() vec { return mul(x, num(seluGain)) }) })},
		{"tanh", 3, simple(func(x, _ vec) vec { return tanh(x) })},
		{"softplus", 3, simple(func(x, _ vec) vec { return softplus(x) })},
		{"gelu", 2, simple(func(x, _ vec) vec { return gelu(x) })},
		{"sqrt", 1, simple(func(x, _ vec) vec { return sqrt(x) })},
		{"abs", 4, simple(func(x, _ vec) vec { return magnitude(x) })},
		{"sign", 4, simple(func(x, _ vec) vec { return or(signOf(x), and(x, wide(signBit))) })},
		{"square", 4, simple(func(x, _ vec) vec { return mul(x, x) })},
		{"reciprocal", 1, simple(func(x, _ vec) vec { return div(get(num(1)), x) })},
		{"exp", 3, func(l *loop, x, _ vec) value {
			l.mark(notOrdinary(x))
			return value{expOrdinary(x), func() (v, odd vec) {
				x := l.load("x")
				return exp(x), notOrdinary(x)
			}}
		}},
		{"log", 3, func(l *loop, x, _ vec) value {
			l.mark(notPositive(x))
			return value{logOrdinary(x), func() (v, odd vec) {
				x := l.load("x")
				return log(x), notPositive(x)
			}}
		}},
		{"sigmoid", 3, func(l *loop, x, _ vec) value {
			l.mark(notOrdinary(x))
			s, _ := sigmoidOrdinary(x)
			return value{s, func() (v, odd vec) {
				x := l.load("x")
				s, _ := sigmoid(x)
				return s, notOrdinary(x)
			}}
		}},
		{"silu", 3, func(l *loop, x, _ vec) value {
			l.mark(notOrdinary(x))
			s, _ := sigmoidOrdinary(x)
			return value{mul(s, x), func() (v, odd vec) {
				x := l.load("x")
				return weighedTail(x, x), notOrdinary(x)
			}}
		}},
		{"geluTanh", 3, func(l *loop, x, _ vec) value {
			z := inner(x)
			l.mark(notOrdinary(z))
			s, _ := sigmoidOrdinary(z)
			return value{mul(s, x), func() (v, odd vec) {
				x := l.load("x")
				z := inner(x)
				return weighedTail(x, z), notOrdinary(z)
			}}
		}},
	} {
		start(f.name+"AVX2", "func(y, x *float32, n int, c float32)", f.name+"AVX2 is Unary.Forward.")
		l := newLoop(f.unroll, "y", "x")
		c := broadcast("c")
		l.put("y", func() value { return f.f(l, l.load("x"), c) })
		l.finish()
	}
}

// bend is y where x is positive, else c·(eˣ − 1).
func bend(x, c vec, y func() vec) vec {
	m := expMinus1(lower(get(num(0)), x))
	return pick(compare(greater, x, num(0)), y(), mul(m, c))
}

// setting are the functions of which edges are often asked for the slope alone.
var setting = []string{"relu", "leakyReLU", "elu", "sigmoid", "tanh"}

// slopes writes the backward kernels dx += dy·f'(x) of simd.Unary and,
// of setting, dx = dy·f'(x).
func slopes() {
	type step func(l *loop, c vec) value // of what is added
	simple := func(f func(l *loop, c vec) vec) step { return func(l *loop, c vec) value { return usual(f(l, c)) } }
	for _, f := range []struct {
		name   string
		unroll int
		f      step
	}{
		{"scale", 4, simple(func(l *loop, c vec) vec { return mul(l.load("dy"), c) })},
		{"relu", 4, simple(func(l *loop, _ vec) vec { return and(l.load("dy"), compare(greater, l.load("x"), num(0))) })},
		{"leakyReLU", 4, simple(func(l *loop, c vec) vec {
			g := l.load("dy")
			return pick(compare(greater, l.load("x"), num(0)), g, mul(g, c))
		})},
		{"elu", 2, simple(func(l *loop, c vec) vec {
			g := l.load("dy")
			return pick(compare(greater, l.load("x"), num(0)), g, mul(add(l.load("y"), c), g))
		})},
		{"selu", 2, simple(func(l *loop, c vec) vec {
			g := l.load("dy")
			return pick(compare(greater, l.load("x"), num(0)), mul(g, num(seluGain)), mul(add(l.load("y"), c), g))
		})},
		{"sigmoid", 4, simple(func(l *loop, _ vec) vec {
			y := l.load("y")
			return mul(mul(l.load("dy"), y), sub(get(num(1)), y))
		})},
		{"tanh", 4, simple(func(l *loop, _ vec) vec {
			y := l.load("y")
			return mul(l.load("dy"), sub(get(num(1)), mul(y, y)))
		})},
		{"softplus", 3, func(l *loop, _ vec) value {
			x := l.load("x")
			l.mark(notOrdinary(x))
			s, _ := sigmoidOrdinary(x)
			return value{mul(s, l.load("dy")), func() (v, odd vec) {
				x := l.load("x")
				s, _ := sigmoid(x)
				return mul(s, l.load("dy")), notOrdinary(x)
			}}
		}},
		{"silu", 2, func(l *loop, _ vec) value {
			x := l.load("x")
			l.mark(notOrdinary(x))
			s, e := sigmoidOrdinary(x)
			slope := mulAdd(mul(s, e), l.load("y"), s)
			return value{mul(slope, l.load("dy")), func() (v, odd vec) {
				x := l.load("x")
				s, lacks := sigmoid(x)
				return mul(plus(s, l.load("y"), lacks), l.load("dy")), notOrdinary(x)
			}}
		}},
		{"gelu", 1, simple(func(l *loop, _ vec) vec { return mul(geluSlope(l.load("x")), l.load("dy")) })},
		{"geluTanh", 1, simple(func(l *loop, _ vec) vec {
			x := within(l.load("x"))
			s, lacks := sigmoid(inner(x))
			return mul(geluTanhSlope(x, s, lacks), l.load("dy"))
		})},
		{"log", 2, simple(func(l *loop, _ vec) vec { return div(l.load("dy"), l.load("x")) })},
		{"sqrt", 2, simple(func(l *loop, _ vec) vec {
			y := l.load("y")
			return div(l.load("dy"), add(y, y))
		})},
		{"abs", 4, simple(func(l *loop, _ vec) vec { return mul(signOf(l.load("x")), l.load("dy")) })},
		{"square", 4, simple(func(l *loop, _ vec) vec {
			g := l.load("dy")
			return mul(add(g, g), l.load("x"))
		})},
		{"reciprocal", 2, simple(func(l *loop, _ vec) vec {
			y := l.load("y")
			return xor(mul(mul(l.load("dy"), y), y), wide(signBit))
		})},
	} {
		start(f.name+"GradAVX2", "func(dx, dy, x, y *float32, n int, c float32)", f.name+"GradAVX2 is Unary.Backward.")
		l := newLoop(f.unroll, "dx", "dy", "x", "y")
		c := broadcast("c")
		l.put("dx", func() value {
			v := f.f(l, c)
			sum := value{v: add(v.v, l.load("dx"))}
			if rare := v.rare; rare != nil {
				sum.rare = func() (v, odd vec) {
					v, odd = rare()
					return add(v, l.load("dx")), odd
				}
			}
			return sum
		})
		l.finish()
		if !slices.Contains(setting, f.name) {
			continue
		}
		start(f.name+"SlopeAVX2", "func(dx, dy, x, y *float32, n int, c float32)", f.name+"SlopeAVX2 is Unary.SetBackward.")
		l = newLoop(f.unroll, "dx", "dy", "x", "y")
		c = broadcast("c")
		l.put("dx", func() value { return f.f(l, c) })
		l.finish()
	}
}
