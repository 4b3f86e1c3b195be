package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// oracle is each function and its slope in float64; c is 0.3.
var oracle = [numUnary]struct{ f, slope func(x float64) float64 }{
	Scale:      {func(x float64) float64 { return 0.3 * x }, func(float64) float64 { return 0.3 }},
	Shift:      {func(x float64) float64 { return x + 0.3 }, func(float64) float64 { return 1 }},
	Neg:        {func(x float64) float64 { return -x }, func(float64) float64 { return -1 }},
	ReLU:       {func(x float64) float64 { return math.Max(x, 0) }, func(x float64) float64 { return step(x, 0) }},
	LeakyReLU:  {func(x float64) float64 { return x * step(x, 0.3) }, func(x float64) float64 { return step(x, 0.3) }},
	ELU:        {func(x float64) float64 { return math.Max(x, 0) + 0.3*math.Expm1(math.Min(x, 0)) }, func(x float64) float64 { return step(x, 0.3*math.Exp(x)) }},
	Sigmoid:    {logistic, func(x float64) float64 { return logistic(x) * logistic(-x) }},
	Tanh:       {math.Tanh, func(x float64) float64 { return 1 / (math.Cosh(x) * math.Cosh(x)) }},
	Softplus:   {func(x float64) float64 { return math.Log1p(math.Exp(x)) }, logistic},
	SiLU:       {func(x float64) float64 { return x * logistic(x) }, func(x float64) float64 { return logistic(x) * (1 + x*logistic(-x)) }},
	Exp:        {math.Exp, math.Exp},
	Log:        {math.Log, func(x float64) float64 { return 1 / x }},
	Sqrt:       {math.Sqrt, func(x float64) float64 { return 0.5 / math.Sqrt(x) }},
	Abs:        {math.Abs, func(x float64) float64 { return step(x, -1) }},
	Sign:       {func(x float64) float64 { return step(x, -1) }, func(float64) float64 { return 0 }},
	Square:     {func(x float64) float64 { return x * x }, func(x float64) float64 { return 2 * x }},
	Reciprocal: {func(x float64) float64 { return 1 / x }, func(x float64) float64 { return -1 / (x * x) }},
	GELU: {func(x float64) float64 { return x * (1 + math.Erf(x/math.Sqrt2)) / 2 }, func(x float64) float64 {
		return (1+math.Erf(x/math.Sqrt2))/2 + x*math.Exp(-x*x/2)/math.Sqrt(2*math.Pi)
	}},
	GELUTanh: {bell, func(x float64) float64 { return (bell(x+1e-5) - bell(x-1e-5)) / 2e-5 }},
	SELU: {func(x float64) float64 {
		return 1.0507009873554805 * (math.Max(x, 0) + 1.6732632423543772*math.Expm1(math.Min(x, 0)))
	}, func(x float64) float64 { return 1.0507009873554805 * step(x, 1.6732632423543772*math.Exp(x)) }},
	Sin: {math.Sin, math.Cos},
	Cos: {math.Cos, func(x float64) float64 { return -math.Sin(x) }},
	Pow: {func(x float64) float64 { return math.Pow(x, 0.3) }, func(x float64) float64 { return 0.3 * math.Pow(x, -0.7) }},
}

// bell is GELU's tanh form, as its authors write it.
func bell(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

func step(x, below float64) float64 {
	if x > 0 {
		return 1
	}
	return below
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// byOracle is for what a formula in float64 says.
var byOracle = compare.Part(1e-5)

func TestUnary(t *testing.T) {
	for u := range numUnary {
		for n := range 20 {
			x, y, dy, dx := make([]Float, n), make([]Float, n), make([]Float, n), make([]Float, n)
			for i := range x {
				x[i] = Float(math.Sin(float64(7*i+n))) * 3
				if x[i] < 0 && (u == Log || u == Sqrt || u == Pow) {
					x[i] = -x[i]
				}
				dy[i], dx[i] = Float(i+1)/8, 10
			}
			u.Forward(y, x, 0.3)
			u.Backward(dx, dy, x, y, 0.3)
			for i, v := range x {
				f, slope := oracle[u].f(float64(v)), oracle[u].slope(float64(v))
				if !byOracle.Near(float64(y[i]), f) || !byOracle.Near(float64(dx[i]), 10+float64(dy[i])*slope) {
					t.Fatalf("%v of %v is %v with the gradient %v, want %v and slope %v", u, v, y[i], dx[i]-10, f, slope)
				}
			}
			set := make([]Float, n)
			for i := range set {
				set[i], dx[i] = Float(math.NaN()), 0
			}
			u.SetBackward(set, dy, x, y, 0.3)
			u.Backward(dx, dy, x, y, 0.3)
			for i := range set {
				if set[i] != dx[i] {
					t.Fatalf("%v has the gradient %v where it is set, %v added to zero", u, set[i], dx[i])
				}
			}
			in := append([]Float(nil), x...)
			u.Forward(in, in, 0.3)
			for i := range in {
				if in[i] != y[i] {
					t.Fatalf("%v in place gives %v, want %v", u, in[i], y[i])
				}
			}
		}
	}
}

// TestUnaryEnds checks infinities, NaN and zero.
func TestUnaryEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		u       Unary
		x, want float64
	}{
		{Sigmoid, -inf, 0}, {Sigmoid, inf, 1}, {Tanh, -inf, -1}, {Softplus, inf, inf}, {Softplus, -inf, 0}, {Softplus, 1000, 1000},
		{ELU, -inf, -0.3}, {ELU, inf, inf}, {Exp, -inf, 0}, {Log, 0, -inf}, {ReLU, -inf, 0}, {ReLU, nan, nan}, {LeakyReLU, nan, nan},
		{ELU, nan, nan}, {Sign, 0, 0}, {Sign, nan, nan}, {Abs, -inf, inf}, {Sqrt, -1, nan}, {Reciprocal, 0, inf},
		{SiLU, -inf, 0}, {SiLU, inf, inf}, {GELU, -inf, 0}, {GELU, inf, inf}, {GELUTanh, -inf, 0}, {GELUTanh, inf, inf},
		{SELU, inf, inf}, {SiLU, nan, nan}, {GELU, nan, nan}, {GELUTanh, nan, nan}, {SELU, nan, nan},
		{Sin, inf, nan}, {Cos, 0, 1}, {Cos, nan, nan}, {Pow, -1, nan}, {Pow, 0, 0}, {Pow, inf, inf},
	} {
		y := make([]Float, 1)
		c.u.Forward(y, []Float{Float(c.x)}, 0.3)
		if got := float64(y[0]); got != float64(Float(c.want)) && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%v of %v is %v, want %v", c.u, c.x, got, c.want)
		}
	}
}

// TestTanhRange checks a sample of all numbers: the error, that the result is
// never beyond 1, and that the function is odd.
func TestTanhRange(t *testing.T) {
	const part, apart = 1 << 12, 16411
	x, y, minus := make([]Float, part), make([]Float, part), make([]Float, part)
	for bits := uint64(1); bits < uint64(math.Float32bits(100)); bits += part * apart {
		for i := range x {
			x[i] = Float(math.Float32frombits(uint32(bits + uint64(i)*apart)))
			minus[i] = -x[i]
		}
		checkTanh(t, x, y, minus)
	}
}

// TestTanhEnd checks every number about where tanh comes to 1.
func TestTanhEnd(t *testing.T) {
	apart := uint32(1)
	if testing.Short() {
		apart = 37
	}
	const part = 1 << 12
	x, y, minus := make([]Float, part), make([]Float, part), make([]Float, part)
	for bits := math.Float32bits(7.8); bits < math.Float32bits(8.4); bits += part * apart {
		for i := range x {
			x[i] = Float(math.Float32frombits(bits + uint32(i)*apart))
			minus[i] = -x[i]
		}
		checkTanh(t, x, y, minus)
	}
}

// checkTanh compares tanh x, and that of minus, which is −x and lost.
func checkTanh(t *testing.T, x, y, minus []Float) {
	t.Helper()
	Tanh.Forward(y, x, 0)
	Tanh.Forward(minus, minus, 0)
	for i, v := range x {
		want := math.Tanh(float64(v))
		if got := float64(y[i]); math.Abs(got-want) > 3.5e-7*want+math.SmallestNonzeroFloat32 || got > 1 || y[i] != -minus[i] {
			t.Fatalf("tanh of %v is %v, of the negative %v, want %v", v, y[i], minus[i], want)
		}
	}
}

// Rows with one row are each row with it, in place too.
func TestForwardRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for b := range numBinary {
		for _, w := range []int{0, 1, 3, 8, 64, 127, 128, 129, 600} {
			for _, rows := range []int{0, 1, 3, 4, 9, 700} {
				x, y := simdtest.Draw(rows*w, simdtest.Some(rng)), simdtest.Draw(w, simdtest.Some(rng))
				all := make([]Float, len(x), len(x)+w+8)
				beyond := all[len(x):cap(all)]
				for i := range beyond {
					beyond[i] = simdtest.Guard
				}
				want := make([]Float, len(x))
				for r := range rows {
					b.Forward(want[r*w:(r+1)*w], x[r*w:(r+1)*w], y, 1, 1)
				}
				b.ForwardRows(all, x, y)
				compare.Near(t, b.String(), all, want, compare.SameBits.OrNaN())
				b.ForwardRows(x, x, y)
				compare.Near(t, b.String()+" in place", x, want, compare.SameBits.OrNaN())
				if slices.ContainsFunc(beyond, func(v Float) bool { return v != simdtest.Guard }) {
					t.Fatalf("%v of %d rows of %d writes beyond them", b, rows, w)
				}
			}
		}
	}
	part := make([]Float, 10, 40)
	defer func() {
		if recover() == nil {
			t.Error("a part of a row was taken for a whole one")
		}
	}()
	Add.ForwardRows(part, part, make([]Float, 16))
}

func TestBinary(t *testing.T) {
	is := func(b bool) float64 {
		if b {
			return 1
		}
		return 0
	}
	for b, o := range [numBinary]struct{ f, dx, dy func(x, y float64) float64 }{
		Add: {func(x, y float64) float64 { return x + y }, func(x, y float64) float64 { return 1 }, func(x, y float64) float64 { return 1 }},
		Sub: {func(x, y float64) float64 { return x - y }, func(x, y float64) float64 { return 1 }, func(x, y float64) float64 { return -1 }},
		Mul: {func(x, y float64) float64 { return x * y }, func(x, y float64) float64 { return y }, func(x, y float64) float64 { return x }},
		Div: {func(x, y float64) float64 { return x / y }, func(x, y float64) float64 { return 1 / y }, func(x, y float64) float64 { return -x / y / y }},
		Min: {math.Min, func(x, y float64) float64 { return is(x <= y) }, func(x, y float64) float64 { return is(x > y) }},
		Max: {math.Max, func(x, y float64) float64 { return is(x >= y) }, func(x, y float64) float64 { return is(x < y) }},
	} {
		for _, s := range [][2]int{{1, 1}, {0, 1}, {1, 0}, {0, 0}} {
			for n := range 20 {
				x, y, z, dz := make([]Float, n+1), make([]Float, n+1), make([]Float, n), make([]Float, n)
				dx, dy, wx, wy := make([]Float, n+1), make([]Float, n+1), make([]float64, n+1), make([]float64, n+1)
				for i := range x {
					x[i], y[i] = Float(i%3), Float(1+i%2) // with ties
				}
				for i := range dz {
					dz[i] = Float(i + 1)
				}
				op := Binary(b)
				op.Forward(z, x, y, s[0], s[1])
				op.BackwardX(dx, dz, x, y, s[0], s[1])
				op.BackwardY(dy, dz, x, y, s[0], s[1])
				for i := range z {
					u, v, g := float64(x[i*s[0]]), float64(y[i*s[1]]), float64(dz[i])
					if !byOracle.Near(float64(z[i]), o.f(u, v)) {
						t.Fatalf("%v of %v and %v is %v", op, u, v, z[i])
					}
					wx[i*s[0]] += g * o.dx(u, v)
					wy[i*s[1]] += g * o.dy(u, v)
				}
				for i := range dx {
					if !byOracle.Near(float64(dx[i]), wx[i]) || !byOracle.Near(float64(dy[i]), wy[i]) {
						t.Fatalf("%v, steps %v, %d elements: gradient %d is %v and %v, want %v and %v", op, s, n, i, dx[i], dy[i], wx[i], wy[i])
					}
				}
			}
		}
	}
}

func TestRows(t *testing.T) {
	inf := Float(math.Inf(1))
	y := make([]Float, 3)
	for _, c := range []struct{ x, want [3]Float }{
		{[3]Float{-inf, -inf, -inf}, [3]Float{}},
		{[3]Float{inf, 0, inf}, [3]Float{0.5, 0, 0.5}},
		{[3]Float{1e4, 1e4, -1e4}, [3]Float{0.5, 0.5, 0}},
	} {
		if Softmax(y, c.x[:]); [3]Float(y) != c.want {
			t.Errorf("softmax of %v is %v", c.x, y)
		}
	}
	if m, s := Softmax(y, []Float{1, 3, 3}); m != 3 || !byOracle.Near(float64(s), 2+math.Exp(-2)) {
		t.Errorf("softmax has the maximum %v and the sum %v", m, s)
	}
	if got := LogSumExp([]Float{1000, 1000}); !byOracle.Near(float64(got), 1000+math.Ln2) {
		t.Errorf("LogSumExp is %v", got)
	}
	if LogSumExp(nil) != -inf || MaxOf(nil) != -inf || LogSumExp([]Float{inf, 1}) != inf {
		t.Error("LogSumExp or MaxOf of none, or of an infinity")
	}
	if v := MaxOf([]Float{1, Float(math.NaN()), 2}); v == v {
		t.Error("MaxOf loses a NaN")
	}
	if got := Dot([]Float{1, 2, 3}, []Float{4, 5, 6, 7}); got != 32 {
		t.Errorf("Dot is %v", got)
	}
}
