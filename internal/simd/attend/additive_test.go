package attend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

func checkAdditive(t *testing.T, rng *rand.Rand, rows, width int) {
	t.Helper()
	next, stride := simdtest.Positive(rng), width+rng.IntN(5)
	what := fmt.Sprintf("%d keys of %d", rows, width)
	for _, to := range []int{0, stride} {
		arrays := [][]Float{
			simdtest.Draw(rows*stride+1, next), simdtest.Draw(width, next), simdtest.Draw(width, next), simdtest.Draw(rows, next),
			simdtest.Draw(rows*stride+1, next), simdtest.Draw(width, next), simdtest.Draw(width, next),
		}
		score := func(s [][]Float) *Additive {
			return &Additive{K: s[0], Q: s[1], V: s[2], Z: s[3], DK: s[4], DQ: s[5], DV: s[6], KStride: stride, DKStride: to, Width: width}
		}
		simdtest.Trial(t, "Logits, "+what, 2e-5, arrays, func(s [][]Float) { score(s).Logits(rows) })
		// Where tanh is near 1, what 1 − tanh² loses is of its last bits, which may differ, and a
		// tanh of −∞ takes all from a sum but these.
		for _, x := range arrays[:2] {
			for i := range x {
				x[i] = Float(math.Abs(0.3 * float64(x[i])))
			}
		}
		simdtest.Trial(t, "Grad, "+what, 2e-5, arrays, func(s [][]Float) { score(s).Grad(rows) })
	}
}

func TestAdditive(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 1))
	for width := range 40 {
		checkAdditive(t, rng, rng.IntN(6), width)
	}
	for rows := range 20 {
		checkAdditive(t, rng, rows, 64)
	}
}

func FuzzAdditive(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(9))
	f.Add(uint64(30), uint8(254), uint8(190)) // tanh near 1
	f.Add(uint64(32), uint8(253), uint8(124)) // and of −∞
	f.Fuzz(func(t *testing.T, seed uint64, rows, width uint8) {
		checkAdditive(t, rand.New(rand.NewPCG(seed, 0)), int(rows%20), int(width%70))
	})
}

// The logits are those of the functions that tiles compute them with, to the bit.
func TestAdditiveOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(82, 1))
	for width := 1; width < 40; width++ {
		const rows = 7
		next := simdtest.Plain(rng)
		a := Additive{K: simdtest.Draw(rows*width, next), Q: simdtest.Draw(width, next), V: simdtest.Draw(width, next), Z: make([]Float, rows), KStride: width, Width: width}
		a.Logits(rows)
		want, x := make([]Float, rows), make([]Float, width)
		for r := range want {
			vec.Add.Forward(x, a.K[r*width:][:width], a.Q, 1, 1)
			vec.Tanh.Forward(x, x, 0)
			vec.Runs(width).Dot(want[r:r+1], x, a.V)
		}
		if !slices.Equal(a.Z, want) {
			t.Errorf("%d columns: the logits are %v, want %v", width, a.Z, want)
		}
	}
}

// A gradient has the same bits however many columns are taken at once.
func TestAdditiveColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 1))
	const rows, width = 9, 45
	next := simdtest.Plain(rng)
	draw := func(n int) []Float { return simdtest.Draw(n, next) }
	whole := Additive{K: draw(rows * width), Q: draw(width), V: draw(width), Z: draw(rows), DK: draw(rows * width), DQ: draw(width), DV: draw(width), KStride: width, DKStride: width, Width: width}
	parts := whole
	parts.DK, parts.DQ, parts.DV = slices.Clone(whole.DK), slices.Clone(whole.DQ), slices.Clone(whole.DV)
	whole.Grad(rows)
	for at := 0; at < width; {
		n := min(1+rng.IntN(20), width-at)
		p := parts
		p.K, p.Q, p.V, p.DK, p.DQ, p.DV, p.Width = p.K[at:], p.Q[at:], p.V[at:], p.DK[at:], p.DQ[at:], p.DV[at:], n
		p.Grad(rows)
		at += n
	}
	if !slices.Equal(whole.DK, parts.DK) || !slices.Equal(whole.DQ, parts.DQ) || !slices.Equal(whole.DV, parts.DV) {
		t.Error("a gradient depends on the columns beside it")
	}
}

// Registers of sixteen lanes and of eight give the same bits.
func TestAdditiveWide(t *testing.T) {
	rng := rand.New(rand.NewPCG(85, 1))
	next := simdtest.Plain(rng)
	draw := func(n int) []Float { return simdtest.Draw(n, next) }
	for rows := 1; rows < 6; rows++ {
		for width := 1; width < 50; width++ {
			a := Additive{K: draw(rows * width), Q: draw(width), V: draw(width), Z: make([]Float, rows), DK: draw(rows * width), DQ: draw(width), DV: draw(width), KStride: width, DKStride: width, Width: width}
			a.K[rng.IntN(len(a.K))] = Float(math.NaN())
			b := a
			b.Z, b.DK, b.DQ, b.DV = slices.Clone(a.Z), slices.Clone(a.DK), slices.Clone(a.DQ), slices.Clone(a.DV)
			a.Logits(rows)
			a.Grad(rows)
			undo := cpu.Narrow()
			b.Logits(rows)
			b.Grad(rows)
			undo()
			for i, x := range [][2][]Float{{a.Z, b.Z}, {a.DK, b.DK}, {a.DQ, b.DQ}, {a.DV, b.DV}} {
				if !slices.EqualFunc(x[0], x[1], func(p, q Float) bool { return p == q || p != p && q != q }) {
					t.Fatalf("%d keys of %d: array %d depends on the registers", rows, width, i)
				}
			}
		}
	}
}

func BenchmarkAdditive(b *testing.B) {
	rng := rand.New(rand.NewPCG(84, 1))
	const rows, width = 50, 256
	next := simdtest.Plain(rng)
	draw := func(n int) []Float { return simdtest.Draw(n, next) }
	a := Additive{K: draw(rows * width), Q: draw(width), V: draw(width), Z: draw(rows), DK: draw(rows * width), DQ: draw(width), DV: draw(width), KStride: width, DKStride: width, Width: width}
	b.Run("Logits", func(b *testing.B) {
		for b.Loop() {
			a.Logits(rows)
		}
	})
	b.Run("Grad", func(b *testing.B) {
		for b.Loop() {
			a.Grad(rows)
		}
	})
}
