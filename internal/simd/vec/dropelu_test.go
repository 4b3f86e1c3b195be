package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

func checkBent(t *testing.T, rng *rand.Rand, rows, width int, p float64) {
	t.Helper()
	next, n := simdtest.Some(rng), rows*width
	d, row := NewDropout(rng.Uint64(), 1, 2, p), rng.IntN(1<<20)
	what := fmt.Sprintf("%d rows, p = %v", rows, p)
	x, b := simdtest.Draw(n, next), simdtest.Draw(width, next)
	simdtest.Trial(t, "ELU, "+what, 3e-7, [][]Float{simdtest.Draw(n, next), x, b}, func(s [][]Float) { d.ELU(s[0], s[1], s[2], row) })
	y := make([]Float, n)
	d.ELU(y, x, b, row)
	for i, v := range y {
		keep := d.Keep(d.Row(row+i/width), i%width)
		if dropped := v == 0 && math.Signbit(float64(v)); dropped == keep {
			t.Fatalf("%s of %d: element %d is %v, kept: %t", what, width, i, v, keep)
		}
	}
	simdtest.Trial(t, "ELUGrad, "+what, 3e-7, [][]Float{simdtest.Draw(n, next), simdtest.Draw(n, next), y}, func(s [][]Float) { d.ELUGrad(s[0], s[1], s[2]) })
	simdtest.Trial(t, "ELUGrad in place, "+what, 3e-7, [][]Float{simdtest.Draw(n, next), y}, func(s [][]Float) { d.ELUGrad(s[0], s[0], s[1]) })
}

func TestAsmBent(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	for width := 1; width < 201; width++ {
		for _, p := range []float64{0.1, 0.6, 1} {
			checkBent(t, rng, rng.IntN(6), width, p)
		}
	}
	checkBent(t, rng, 2, 1<<14+9, 0.5) // more than a kernel is given at once
	checkBent(t, rng, 3<<11, 8, 0.5)
}

func FuzzBent(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8), 0.6)
	f.Fuzz(func(t *testing.T, seed uint64, rows, width uint8, p float64) {
		if p > 0 {
			checkBent(t, rand.New(rand.NewPCG(seed, 0)), int(rows%40), 1+int(width), p)
		}
	})
}

// The end of a layer in one pass is its steps one after the other.
func TestBentSteps(t *testing.T) {
	const rows, width = 9, 21
	rng := rand.New(rand.NewPCG(26, 1))
	x, b, dy := simdtest.Draw(rows*width, simdtest.Plain(rng)), simdtest.Draw(width, simdtest.Plain(rng)), simdtest.Draw(rows*width, simdtest.Plain(rng))
	d := NewDropout(1, 2, 3, 0.6)
	y, dx := make([]Float, len(x)), make([]Float, len(x))
	d.ELU(y, x, b, 5)
	d.ELUGrad(dx, dy, y)
	z, h, want, dh, dz := make([]Float, len(x)), make([]Float, len(x)), make([]Float, len(x)), make([]Float, len(x)), make([]Float, len(x))
	for i, v := range x {
		z[i] = v + b[i%width]
	}
	ELU.Forward(h, z, 1)
	d.Set(want, h, 5, width)
	d.Set(dh, dy, 5, width)
	ELU.SetBackward(dz, dh, z, h, 1)
	compare.Near(t, "y", y, want, simdtest.Rounded(1e-6))
	sizes := make([]float64, len(dy)) // both slopes are differences: what cancels is not exact
	for i, v := range dy {
		sizes[i] = math.Abs(float64(v))
	}
	compare.Near(t, "slopes", dx, dz, compare.PartOfTerms(2e-6, 2e-6, sizes).OrNaN())
}
