//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// functions are the twins of the kernels of one argument, the roundings that they may be off by, and the
// kernels. c is the constant of those that take one.
var functions = []struct {
	name      string
	roundings float64
	truth     func(x, c float64) float64
	kernel    func(y, x, t unsafe.Pointer, n int, c float32)
}{
	{"Scale", 1, func(x, c float64) float64 { return c * x }, func(y, x, _ unsafe.Pointer, n int, c float32) { Scale(y, x, n, c) }},
	{"Shift", 1, func(x, c float64) float64 { return x + c }, func(y, x, _ unsafe.Pointer, n int, c float32) { Shift(y, x, n, c) }},
	{"LeakyReLU", 1, func(x, c float64) float64 { return pick(x, x, c*x) }, func(y, x, _ unsafe.Pointer, n int, c float32) { LeakyReLU(y, x, n, c) }},
	{"ELU", 5, func(x, c float64) float64 { return pick(x, x, c*math.Expm1(x)) }, ELU},
	{"Sigmoid", 6, func(x, _ float64) float64 { return 1 / (1 + math.Exp(-x)) }, func(y, x, t unsafe.Pointer, n int, _ float32) { Sigmoid(y, x, t, n) }},
	{"Tanh", 6, func(x, _ float64) float64 { return math.Tanh(x) }, func(y, x, t unsafe.Pointer, n int, _ float32) { Tanh(y, x, t, n) }},
	{"Exp", 4, func(x, _ float64) float64 { return math.Exp(x) }, func(y, x, t unsafe.Pointer, n int, _ float32) { Exp(y, x, t, n) }},
	{"Sqrt", 0, func(x, _ float64) float64 { return math.Sqrt(x) }, func(y, x, _ unsafe.Pointer, n int, _ float32) { Sqrt(y, x, n) }},
	{"ReLU", 0, func(x, _ float64) float64 { return max(x, 0) }, func(y, x, _ unsafe.Pointer, n int, _ float32) { ReLU(y, x, n) }},
	{"SiLU", 7, func(x, _ float64) float64 { return x / (1 + math.Exp(-x)) }, func(y, x, t unsafe.Pointer, n int, _ float32) { weighed(y, x, t, n, 1, 0) }},
	{"GELU's tanh form", 2e3, func(x, _ float64) float64 { return x / (1 + math.Exp(-bent(x))) }, func(y, x, t unsafe.Pointer, n int, _ float32) { weighed(y, x, t, n, bend1, bend3) }},
}

// bent is what the tanh form of GELU takes the sigmoid of.
const bend1, bend3 = 1.5957691216057308, 0.07135481282

func bent(x float64) float64 { return x * (bend1 + bend3*x*x) }

// weighed is Weighed of whole fours, and of the rest in room of its own.
func weighed(y, x, t unsafe.Pointer, n int, a, b float32) {
	Weighed(y, x, t, n&^3, a, b)
	var room [4]float32
	from, to := unsafe.Slice((*float32)(x), n)[n&^3:], unsafe.Slice((*float32)(y), n)[n&^3:]
	copy(room[:], from)
	Weighed(begin(room[:]), begin(room[:]), t, 4, a, b)
	copy(to, room[:])
}

// weighedSlope is the slope of x·sigmoid(x·(a+b·x²)).
func weighedSlope(x, a, b float64) float64 {
	x = min(max(x, -150), 150)
	z := x * (a + b*x*x)
	s, lacks := 1/(1+math.Exp(-z)), 1/(1+math.Exp(z))
	return s + x*(a+3*b*x*x)*s*lacks
}

// pick is a where x > 0, else b.
func pick(x, a, b float64) float64 {
	if x > 0 {
		return a
	}
	return b
}

// spread draws numbers of all sizes up to a hundred.
func spread(rng *rand.Rand) func() float32 {
	return func() float32 { return float32(rng.NormFloat64() * math.Pow(10, float64(rng.IntN(5)-2))) }
}

func TestFunctions(t *testing.T) {
	for _, f := range functions {
		each(t, 100, func(t *testing.T, rng *rand.Rand) {
			n, c := rng.IntN(40), rng.Float32()+0.1
			x, y := drawn(rng, n, spread(rng)), drawn(rng, n, normal(rng))
			if rng.IntN(2) == 0 { // in place
				y = x
			}
			want := wide(x.x)
			for i, v := range want {
				want[i] = f.truth(v, float64(c))
			}
			f.kernel(y.at(0), x.at(0), unsafe.Pointer(&Table), n, c)
			y.intact(t, f.name)
			off := 0.0
			if f.name == "Shift" { // next to 0 the sum loses what both have in common
				off = 1e9
			}
			near(t, f.name, y.x, want, f.roundings+off)
		})
	}
}

func TestExpEverywhere(t *testing.T) {
	x := []float32{0, -0x1p-149, 1e-30, 87.5, 88.72, 88.73, 89, 200, 3e38, -87.4, -100, -103.9, -104, -200, -3e38, float32(math.Inf(1)), float32(math.Inf(-1))}
	y := make([]float32, len(x))
	Exp(begin(y), begin(x), unsafe.Pointer(&Table), len(x))
	for i, v := range x {
		want := float32(math.Exp(float64(v)))
		if off := math.Abs(float64(y[i]) - float64(want)); y[i] != want && !(off <= 2e-7*float64(want)+3e-45) {
			t.Errorf("Exp(%v) = %v, want %v", v, y[i], want)
		}
	}
}

func TestSlopes(t *testing.T) {
	for _, f := range []struct {
		name   string
		truth  func(dy, x, y, c float64) float64
		kernel func(dx, dy, x, y unsafe.Pointer, n, add int, c float32)
	}{
		{"LeakyReLUSlope", func(dy, x, _, c float64) float64 { return pick(x, dy, c*dy) }, func(dx, dy, x, _ unsafe.Pointer, n, add int, c float32) { LeakyReLUSlope(dx, dy, x, n, add, c) }},
		{"ELUSlope", func(dy, x, y, c float64) float64 { return pick(x, dy, dy*(y+c)) }, ELUSlope},
		{"SigmoidSlope", func(dy, _, y, _ float64) float64 { return dy * y * (1 - y) }, func(dx, dy, _, y unsafe.Pointer, n, add int, _ float32) { SigmoidSlope(dx, dy, y, n, add) }},
		{"TanhSlope", func(dy, _, y, _ float64) float64 { return dy * (1 - y*y) }, func(dx, dy, _, y unsafe.Pointer, n, add int, _ float32) { TanhSlope(dx, dy, y, n, add) }},
		{"ReLUSlope", func(dy, x, _, _ float64) float64 { return pick(x, dy, 0) }, func(dx, dy, x, _ unsafe.Pointer, n, add int, _ float32) { ReLUSlope(dx, dy, x, n, add) }},
		{"Scale and Axpy", func(dy, _, _, c float64) float64 { return dy * c }, func(dx, dy, _, _ unsafe.Pointer, n, add int, c float32) {
			if add != 0 {
				Axpy(dx, dy, n, c)
			} else {
				Scale(dx, dy, n, c)
			}
		}},
	} {
		each(t, 60, func(t *testing.T, rng *rand.Rand) {
			n, add, c := rng.IntN(40), rng.IntN(2), rng.Float32()+0.1
			share := func() float32 { return 0.9 * rng.Float32() }
			dx, dy, x, y := drawn(rng, n, positive(rng)), drawn(rng, n, positive(rng)), drawn(rng, n, normal(rng)), drawn(rng, n, share)
			want := wide(dx.x)
			for i := range want {
				want[i] = float64(add)*want[i] + f.truth(float64(dy.x[i]), float64(x.x[i]), float64(y.x[i]), float64(c))
			}
			f.kernel(dx.at(0), dy.at(0), x.at(0), y.at(0), n, add, c)
			dx.intact(t, f.name)
			near(t, f.name, dx.x, want, 16)
		})
	}
}

// Slopes that cross zero are held against the largest they have.
func TestWeighedSlope(t *testing.T) {
	each(t, 200, func(t *testing.T, rng *rand.Rand) {
		n, add, a, b := 4*rng.IntN(6), rng.IntN(2), 1.0, 0.0
		if rng.IntN(2) == 0 {
			a, b = bend1, bend3
		}
		x, dy, dx := drawn(rng, n, spread(rng)), drawn(rng, n, normal(rng)), drawn(rng, n, normal(rng))
		given := wide(dx.x)
		WeighedSlope(dx.at(0), dy.at(0), x.at(0), unsafe.Pointer(&Table), n, add, float32(a), float32(b), 150)
		dx.intact(t, "WeighedSlope")
		for i, v := range x.x {
			want := float64(add)*given[i] + float64(dy.x[i])*weighedSlope(float64(v), a, b)
			if off := math.Abs(float64(dx.x[i]) - want); off > 3e-6*math.Abs(float64(dy.x[i]))+1e-7*math.Abs(want) {
				t.Fatalf("WeighedSlope of %v with %v and %v is %v, want %v", v, a, b, dx.x[i], want)
			}
		}
	})
}

func TestOfTwo(t *testing.T) {
	for _, f := range []struct {
		name   string
		truth  func(x, y, z float64) float64
		kernel func(z, x, y unsafe.Pointer, n int)
	}{
		{"Add", func(x, y, _ float64) float64 { return x + y }, Add}, {"Sub", func(x, y, _ float64) float64 { return x - y }, Sub},
		{"Mul", func(x, y, _ float64) float64 { return x * y }, Mul}, {"Div", func(x, y, _ float64) float64 { return x / y }, Div},
		{"MulAdd", func(x, y, z float64) float64 { return z + x*y }, MulAdd},
	} {
		each(t, 60, func(t *testing.T, rng *rand.Rand) {
			n := rng.IntN(60)
			x, y, z := drawn(rng, n, positive(rng)), drawn(rng, n, positive(rng)), drawn(rng, n, positive(rng))
			want := wide(z.x)
			for i := range want {
				want[i] = f.truth(float64(x.x[i]), float64(y.x[i]), want[i])
			}
			f.kernel(z.at(0), x.at(0), y.at(0), n)
			z.intact(t, f.name)
			near(t, f.name, z.x, want, 2)
		})
	}
}

func TestHasZero(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n, at := 1+rng.IntN(60), rng.IntN(90)
		x := drawn(rng, n, positive(rng))
		if at < n {
			x.x[at] = float32(math.Copysign(0, -float64(at%2)))
		}
		if got := HasZero(x.at(0), n); got != oneIf(at < n) {
			t.Fatalf("HasZero of %d with a zero at %d is %d", n, at, got)
		}
	})
}

// adam is the twin of AdamStep.
func adam[F number](w, dw, m, v []F, a [7]F, root func(F) F) {
	for i, g := range dw {
		g += a[1] * w[i]
		m[i] += a[2] * (g - m[i])
		v[i] = a[3]*v[i] + a[4]*g*g
		w[i] -= a[0] * m[i] / (root(v[i])*a[5] + a[6])
	}
}

func TestAdamStep(t *testing.T) {
	each(t, 60, func(t *testing.T, rng *rand.Rand) {
		n := rng.IntN(40)
		a, numbers := [7]float64{0.01, 0.1, 0.1, 0.99, 0.01, 0.9, 1e-8}, [7][4]float32{}
		for i, v := range a {
			numbers[i] = [4]float32{float32(v), float32(v), float32(v), float32(v)}
			a[i] = float64(numbers[i][0])
		}
		large := func() float32 { return rng.Float32() + 5 }
		w, dw, m, v := drawn(rng, n, large), drawn(rng, n, large), drawn(rng, n, positive(rng)), drawn(rng, n, positive(rng))
		w1, m1, v1 := wide(w.x), wide(m.x), wide(v.x)
		adam(w1, wide(dw.x), m1, v1, a, math.Sqrt)
		AdamStep(w.at(0), dw.at(0), m.at(0), v.at(0), begin(numbers[:]), n)
		for _, r := range []*room{w, dw, m, v} {
			r.intact(t, "AdamStep")
		}
		near(t, "AdamStep, w", w.x, w1, 8)
		near(t, "AdamStep, m", m.x, m1, 8)
		near(t, "AdamStep, v", v.x, v1, 8)
	})
}
