package attend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/rounding"
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
		logits, _ := additiveFormula(score(arrays), rows)
		simdtest.Held(t, "Logits, "+what, arrays, func(s [][]Float) { score(s).Logits(rows) }, logits)
		// Where tanh is near 1 little is left of 1 − tanh², and the bound is wide: most are not.
		for _, x := range arrays[:2] {
			for i := range x {
				x[i] = Float(math.Abs(0.3 * float64(x[i])))
			}
		}
		_, grads := additiveFormula(score(arrays), rows)
		simdtest.Held(t, "Grad, "+what, arrays, func(s [][]Float) { score(s).Grad(rows) }, grads)
	}
}

// additiveFormula is what the formula says of all arrays after Logits, and after Grad.
func additiveFormula(a *Additive, rows int) (logits, grads [][]rounding.Result) {
	for _, x := range [][]Float{a.K, a.Q, a.V, a.Z, a.DK, a.DQ, a.DV} {
		logits, grads = append(logits, rounding.Exact(x)), append(grads, rounding.Exact(x))
	}
	if rows == 0 {
		return logits, grads
	}
	f := rounding.NewFormula()
	k, q, v := rounding.Given(f, a.K), rounding.Given(f, a.Q), rounding.Given(f, a.V)
	var z []rounding.Number
	for r := range rows {
		t := make([]rounding.Number, a.Width)
		for j := range t {
			t[j] = f.Tanh(f.Sum(k[r*a.KStride+j], q[j]))
		}
		z = append(z, f.Dot(t, v))
	}
	copy(logits[3], f.Results(z))
	dz := rounding.Exact(a.Z[:rows])
	// gradients are those of x to which some are added that were there.
	gradients := func(x []rounding.Number, there []Float) []rounding.Result {
		return f.Gradients(slices.Concat(z, x), slices.Concat(dz, rounding.Exact(there)))(x)
	}
	grads[5], grads[6] = gradients(q, a.DQ), gradients(v, a.DV)
	if a.DKStride == 0 { // as q, to which all keys add, too
		copy(grads[4], gradients(q, a.DK[:a.Width]))
	}
	for r := 0; r < rows && a.DKStride > 0; r++ {
		copy(grads[4][r*a.DKStride:], gradients(k[r*a.KStride:][:a.Width], a.DK[r*a.DKStride:][:a.Width]))
	}
	return logits, grads
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
	f.Add(uint64(30), uint8(254), uint8(190))  // tanh near 1
	f.Add(uint64(32), uint8(253), uint8(124))  // and of −∞
	f.Add(uint64(27), uint8(0x95), uint8('H')) // near 1 in one of nine keys
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
			compare.Slices(t, fmt.Sprintf("%d keys of %d: the registers", rows, width), [][]Float{b.Z, b.DK, b.DQ, b.DV}, [][]Float{a.Z, a.DK, a.DQ, a.DV}, compare.Exactly.OrNaN())
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
