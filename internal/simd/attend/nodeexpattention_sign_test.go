package attend

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/rounding"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// byKink reports whether x + y is so near to the kink of LeakyReLU that Retrace may take the slope of the other side: the
// two powers that tell, each a product of rounded ones, are nearer to each other than their roundings.
func byKink(x, y, slope, sum Float) bool {
	f := rounding.NewFormula()
	power := func(slope Float) rounding.Result {
		of := func(x Float) rounding.Number { return f.Exp(f.Scale(f.Constant(float64(x)), float64(slope))) }
		return f.Result(f.Mul(of(x), f.Div(of(y), f.Constant(float64(sum)))))
	}
	return rounding.Alike(power(1), power(slope))
}

// slopeTaken returns what Retrace takes for the slope of LeakyReLU at x + y, by a softmax
// that has divided by sum.
func slopeTaken(heads int, x, y, slope, sum Float) float64 {
	stride, at := 16, 0
	if heads == 1 {
		stride, at = 4, 1
	}
	powers := func(v Float) []Float {
		p := NodeExps{X: make([]Float, 8), Y: make([]Float, 32), XStride: heads, YStride: stride}
		for i := range p.X {
			p.X[i] = v
		}
		if heads == 1 {
			p.Column(1, slope)
		} else {
			p.Rows(1, slope)
		}
		return p.Y[at:]
	}
	far := append(powers(y), make([]Float, 16)...)
	for i := range 2 * heads {
		far[i] /= sum
	}
	clear(far[2*heads : 3*heads])
	ones := func() []Float {
		one := make([]Float, 64)
		for i := range one {
			one[i] = 1
		}
		return one
	}
	s := NodeExpAttention{Offsets: []int64{0, 1}, Cols: []int32{0}, Far: far, X: ones(), Y: make([]Float, 64), Rec: make([]Float, 8), Own: powers(x), V: ones(), Der: make([]Float, 8),
		FarStride: 24, XStride: 8 * heads, YStride: 8 * heads, RecStride: heads, OwnStride: stride, VStride: 8 * heads, DerStride: heads,
		Factors: make([]Float, 4*NodeExpMost), Width: 8, Heads: heads}
	s.Prepare(slope, nil, 0)
	s.Retrace()
	return float64(s.Rec[0]) / float64(8*s.Y[0])
}

// Retrace takes the right side of LeakyReLU's kink, but next to it, where it takes one of
// the two.
func TestSideOfKink(t *testing.T) {
	check := func(t *testing.T) {
		rng := rand.New(rand.NewPCG(15, 3))
		for range 20_000 {
			heads, slope, sum := 1+7*rng.IntN(2), Float(rng.IntN(5))/5, Float(1+100*rng.Float64())
			x := Float((2*rng.Float64() - 1) * math.Pow(2, float64(rng.IntN(20)-16)) * 2.9) // up to 23
			y := -x + Float((2*rng.Float64()-1)*math.Pow(2, -float64(rng.IntN(30))))
			z := float64(x) + float64(y)
			got, want := slopeTaken(heads, x, y, slope, sum), 1.0
			if z <= 0 {
				want = float64(slope)
			}
			is := func(w float64) bool { return math.Abs(got-w) < 1e-5 }
			switch {
			case is(want):
			case !is(1) && !is(float64(slope)):
				t.Fatalf("%d heads: the slope at %v + %v is %v, and not 1 or %v", heads, x, y, got, slope)
			case !byKink(x, y, slope, sum):
				t.Fatalf("%d heads: the slope at %v + %v is %v, want %v", heads, x, y, got, want)
			}
		}
	}
	t.Run(cpu.Path(), check)
	t.Run("go", func(t *testing.T) { defer cpu.Disable()(); check(t) })
}
