package vec

import (
	"slices"

	. "github.com/edgewise-ml/edgewise/internal/simd/_gen/asm"
)

// seluGain is λ of SELU.
func seluGain() float64 { return NumberOf("seluGain") }

// usual is a value that is nowhere odd.
func usual(v Vec) Value { return Value{V: v} }

// Unary writes the forward kernels y = f(x) of Unary.
func Unary() {
	type step func(l *Loop, x, c Vec) Value
	simple := func(f func(x, c Vec) Vec) step { return func(_ *Loop, x, c Vec) Value { return usual(f(x, c)) } }
	for _, f := range []struct {
		name   string
		unroll int
		f      step
	}{
		{"scale", 4, simple(func(x, c Vec) Vec { return Mul(x, c) })},
		{"shift", 4, simple(func(x, c Vec) Vec { return Add(x, c) })},
		{"relu", 4, simple(func(x, _ Vec) Vec { return Higher(Get(Num(0)), x) })},
		{"leakyReLU", 4, simple(func(x, c Vec) Vec { return Pick(Compare(Greater, x, Num(0)), x, Mul(x, c)) })},
		{"elu", 3, simple(func(x, c Vec) Vec { return leaky(x, c, func() Vec { return x }) })},
		{"selu", 3, simple(func(x, c Vec) Vec { return leaky(x, c, func() Vec { return Mul(x, Num(seluGain())) }) })},
		{"tanh", 3, simple(func(x, _ Vec) Vec { return Tanh(x) })},
		{"softplus", 3, simple(func(x, _ Vec) Vec { return softplus(x) })},
		{"gelu", 2, simple(func(x, _ Vec) Vec { return gelu(x) })},
		{"sqrt", 1, simple(func(x, _ Vec) Vec { return Sqrt(x) })},
		{"abs", 4, simple(func(x, _ Vec) Vec { return Magnitude(x) })},
		{"sign", 4, simple(func(x, _ Vec) Vec { return Or(SignOf(x), And(x, Wide(SignBit))) })},
		{"square", 4, simple(func(x, _ Vec) Vec { return Mul(x, x) })},
		{"reciprocal", 1, simple(func(x, _ Vec) Vec { return Div(Get(Num(1)), x) })},
		{"exp", 3, func(l *Loop, x, _ Vec) Value {
			l.Mark(NotOrdinary(x))
			return Value{V: ExpOrdinary(x), Rare: func() (v, odd Vec) {
				x := l.Load("x")
				return Exp(x), NotOrdinary(x)
			}}
		}},
		{"log", 3, func(l *Loop, x, _ Vec) Value {
			l.Mark(notPositive(x))
			return Value{V: logOrdinary(x), Rare: func() (v, odd Vec) {
				x := l.Load("x")
				return log(x), notPositive(x)
			}}
		}},
		{"sigmoid", 3, func(l *Loop, x, _ Vec) Value {
			l.Mark(NotOrdinary(x))
			s, _ := SigmoidOrdinary(x)
			return Value{V: s, Rare: func() (v, odd Vec) {
				x := l.Load("x")
				s, _ := Sigmoid(x)
				return s, NotOrdinary(x)
			}}
		}},
		{"silu", 3, func(l *Loop, x, _ Vec) Value {
			l.Mark(NotOrdinary(x))
			s, _ := SigmoidOrdinary(x)
			return Value{V: Mul(s, x), Rare: func() (v, odd Vec) {
				x := l.Load("x")
				return WeighedTail(x, x), NotOrdinary(x)
			}}
		}},
		{"geluTanh", 3, func(l *Loop, x, _ Vec) Value {
			z := inner(x)
			l.Mark(NotOrdinary(z))
			s, _ := SigmoidOrdinary(z)
			return Value{V: Mul(s, x), Rare: func() (v, odd Vec) {
				x := l.Load("x")
				z := inner(x)
				return WeighedTail(x, z), NotOrdinary(z)
			}}
		}},
	} {
		Start(f.name+"AVX2", "func(y, x *float32, n int, c float32)", f.name+"AVX2 is Unary.Forward.")
		l := NewLoop(f.unroll, "y", "x")
		c := Broadcast("c")
		l.Put("y", func() Value { return f.f(l, l.Load("x"), c) })
		l.Finish()
	}
}

// leaky is y where x is positive, else c·(eˣ − 1).
func leaky(x, c Vec, y func() Vec) Vec {
	m := ExpMinus1(Lower(Get(Num(0)), x))
	return Pick(Compare(Greater, x, Num(0)), y(), Mul(m, c))
}

// setting are the functions of which edges are often asked for the slope alone.
var setting = []string{"relu", "leakyReLU", "elu", "sigmoid", "tanh"}

// Slopes writes the backward kernels dx += dy·f'(x) of Unary and,
// of setting, dx = dy·f'(x).
func Slopes() {
	type step func(l *Loop, c Vec) Value // of what is added
	simple := func(f func(l *Loop, c Vec) Vec) step { return func(l *Loop, c Vec) Value { return usual(f(l, c)) } }
	for _, f := range []struct {
		name   string
		unroll int
		f      step
	}{
		{"scale", 4, simple(func(l *Loop, c Vec) Vec { return Mul(l.Load("dy"), c) })},
		{"relu", 4, simple(func(l *Loop, _ Vec) Vec { return And(l.Load("dy"), Compare(Greater, l.Load("x"), Num(0))) })},
		{"leakyReLU", 4, simple(func(l *Loop, c Vec) Vec {
			g := l.Load("dy")
			return Pick(Compare(Greater, l.Load("x"), Num(0)), g, Mul(g, c))
		})},
		{"elu", 2, simple(func(l *Loop, c Vec) Vec {
			g := l.Load("dy")
			return Pick(Compare(Greater, l.Load("x"), Num(0)), g, Mul(Add(l.Load("y"), c), g))
		})},
		{"selu", 2, simple(func(l *Loop, c Vec) Vec {
			g := l.Load("dy")
			return Pick(Compare(Greater, l.Load("x"), Num(0)), Mul(g, Num(seluGain())), Mul(Add(l.Load("y"), c), g))
		})},
		{"sigmoid", 4, simple(func(l *Loop, _ Vec) Vec {
			y := l.Load("y")
			return Mul(Mul(l.Load("dy"), y), Sub(Get(Num(1)), y))
		})},
		{"tanh", 4, simple(func(l *Loop, _ Vec) Vec {
			y := l.Load("y")
			return Mul(l.Load("dy"), Sub(Get(Num(1)), Mul(y, y)))
		})},
		{"softplus", 3, func(l *Loop, _ Vec) Value {
			x := l.Load("x")
			l.Mark(NotOrdinary(x))
			s, _ := SigmoidOrdinary(x)
			return Value{V: Mul(s, l.Load("dy")), Rare: func() (v, odd Vec) {
				x := l.Load("x")
				s, _ := Sigmoid(x)
				return Mul(s, l.Load("dy")), NotOrdinary(x)
			}}
		}},
		{"silu", 2, func(l *Loop, _ Vec) Value {
			x := l.Load("x")
			l.Mark(NotOrdinary(x))
			s, e := SigmoidOrdinary(x)
			slope := MulAdd(Mul(s, e), l.Load("y"), s)
			return Value{V: Mul(slope, l.Load("dy")), Rare: func() (v, odd Vec) {
				x := l.Load("x")
				s, lacks := Sigmoid(x)
				return Mul(Plus(s, l.Load("y"), lacks), l.Load("dy")), NotOrdinary(x)
			}}
		}},
		{"gelu", 1, simple(func(l *Loop, _ Vec) Vec { return Mul(geluSlope(l.Load("x")), l.Load("dy")) })},
		{"geluTanh", 1, simple(func(l *Loop, _ Vec) Vec {
			x := within(l.Load("x"))
			s, lacks := Sigmoid(inner(x))
			return Mul(geluTanhSlope(x, s, lacks), l.Load("dy"))
		})},
		{"log", 2, simple(func(l *Loop, _ Vec) Vec { return Div(l.Load("dy"), l.Load("x")) })},
		{"sqrt", 2, simple(func(l *Loop, _ Vec) Vec {
			y := l.Load("y")
			return Div(l.Load("dy"), Add(y, y))
		})},
		{"abs", 4, simple(func(l *Loop, _ Vec) Vec { return Mul(SignOf(l.Load("x")), l.Load("dy")) })},
		{"square", 4, simple(func(l *Loop, _ Vec) Vec {
			g := l.Load("dy")
			return Mul(Add(g, g), l.Load("x"))
		})},
		{"reciprocal", 2, simple(func(l *Loop, _ Vec) Vec {
			y := l.Load("y")
			return Xor(Mul(Mul(l.Load("dy"), y), y), Wide(SignBit))
		})},
	} {
		Start(f.name+"GradAVX2", "func(dx, dy, x, y *float32, n int, c float32)", f.name+"GradAVX2 is Unary.Backward.")
		l := NewLoop(f.unroll, "dx", "dy", "x", "y")
		c := Broadcast("c")
		l.Put("dx", func() Value {
			v := f.f(l, c)
			sum := Value{V: Add(v.V, l.Load("dx"))}
			if rare := v.Rare; rare != nil {
				sum.Rare = func() (v, odd Vec) {
					v, odd = rare()
					return Add(v, l.Load("dx")), odd
				}
			}
			return sum
		})
		l.Finish()
		if !slices.Contains(setting, f.name) {
			continue
		}
		Start(f.name+"SlopeAVX2", "func(dx, dy, x, y *float32, n int, c float32)", f.name+"SlopeAVX2 is Unary.SetBackward.")
		l = NewLoop(f.unroll, "dx", "dy", "x", "y")
		c = Broadcast("c")
		l.Put("dx", func() Value { return f.f(l, c) })
		l.Finish()
	}
}
