package simdtest

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// The assembly takes exponentials by a polynomial in many places. What a wrong coefficient
// of the highest power does is less than one rounding, so that no comparison of single
// results sees it: the errors are averaged by the part of an argument that the polynomial
// gets, where roundings cancel and it stays.

// Exponential is a place where exponentials are taken: run sets y to f of x, which are
// from lo to hi.
type Exponential struct {
	Name   string
	Lo, Hi float64
	F      func(x float64) float64
	Z      func(x float64) float64 // what the exponential is taken of; nil: x
	Bound  float64                 // of the average error; 0: averagely
	Cut    bool                    // what is less than 2⁻¹⁰⁰ is 0
	Run    func(y, x []Float)
}

// averagely is how much the results of one part of the arguments may be off on the average.
// The polynomial is right to 6e-9, and 2.3e-8 with a coefficient that is wrong by 1 %.
const averagely = 1.2e-8

// single is how much one may be.
const single = 3e-7

// leastWeight is the argument below which what is cut is 0.
const leastWeight = -69.31472

const (
	exponents = 1 << 14
	exponBins = 16
)

// check compares the results of a place with those in float64.
func (p Exponential) check(t *testing.T, rng *rand.Rand) {
	t.Helper()
	x, y := make([]Float, exponents), make([]Float, exponents)
	for i := range x {
		x[i] = Float(p.Lo + (p.Hi-p.Lo)*rng.Float64())
	}
	p.Run(y, x)
	var sum, n [exponBins]float64
	for i, v := range x {
		want := p.F(float64(v))
		if p.Cut && v < leastWeight {
			if y[i] != 0 {
				t.Fatalf("%s of %v is %v, want 0", p.Name, v, y[i])
			}
			continue
		}
		e := (float64(y[i]) - want) / want
		if !(math.Abs(e) <= single) {
			t.Fatalf("%s of %v is %v, want %v", p.Name, v, y[i], want)
		}
		z := float64(v)
		if p.Z != nil {
			z = p.Z(z)
		}
		part := z / math.Ln2
		bin := min(int((part-math.Round(part)+0.5)*exponBins), exponBins-1)
		sum[bin], n[bin] = sum[bin]+e, n[bin]+1
	}
	bound := p.Bound
	if bound == 0 {
		bound = averagely
	}
	for b := range sum {
		if mean := sum[b] / n[b]; math.Abs(mean) > bound {
			t.Errorf("%s is off by %.1e on the average where the exponent's fraction is %.2f", p.Name, mean, (float64(b)+0.5)/exponBins-0.5)
		}
	}
}

// Eights calls f with eights of x and of y.
func Eights(y, x []Float, f func(y, x []Float)) {
	for i := 0; i < len(x); i += 8 {
		f(y[i:i+8], x[i:i+8])
	}
}

// Softened sets y to a softmax over x and a zero, which takes all but a rounding, each in a
// column of eight.
func Softened(f func(y, x []Float)) func(y, x []Float) {
	return func(y, x []Float) {
		Eights(y, x, func(y, x []Float) {
			var in, out [16]Float
			copy(in[8:], x)
			f(out[:], in[:])
			copy(y, out[8:])
		})
	}
}

// CheckExponentials checks places on every path that there is.
func CheckExponentials(t *testing.T, places []Exponential) {
	t.Helper()
	if unsafe.Sizeof(Float(0)) == 8 {
		t.Skip("no polynomial")
	}
	check := func(t *testing.T) {
		rng := rand.New(rand.NewPCG(15, 4))
		for _, p := range places {
			if p.F == nil {
				p.F = math.Exp
			}
			p.check(t, rng)
		}
	}
	t.Run(cpu.Path(), check)
	if cpu.Path() == "avx512" {
		t.Run("narrow", func(t *testing.T) { defer cpu.Narrow()(); check(t) })
	}
	if cpu.Path() != "go" {
		t.Run("go", func(t *testing.T) { defer cpu.Disable()(); check(t) })
	}
}
