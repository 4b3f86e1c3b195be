package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// lstmOf are rows in slices: gates, cell, next, tanh, h, and the gradients of gates, cell, next and h.
func lstmOf(s [][]Float, m int, set, inner bool) *LSTMRows {
	return &LSTMRows{Inner: inner, M: m, Gates: s[0], Cell: s[1], Next: s[2], Tanh: s[3], H: s[4], DGates: s[5], DCell: s[6], DNext: s[7], DH: s[8], SetCell: set}
}

// drawLSTM draws such slices: half of the sizes have special numbers, which leave the fast way.
func drawLSTM(rng *rand.Rand, rows, m int) (s [][]Float) {
	draw := simdtest.Plain(rng)
	if m%2 == 1 {
		draw = simdtest.Some(rng)
	}
	for i, columns := range []int{4, 1, 1, 1, 1, 4, 1, 1, 1} {
		if i > 0 {
			draw = simdtest.Plain(rng)
		}
		s = append(s, simdtest.Draw(rows*columns*m, draw))
	}
	return s
}

// Numbers of one sign, so that nothing cancels.
func TestLSTMRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	part := func() Float { return Float(0.1 + 0.8*rng.Float64()) }
	for m := range 70 {
		s := drawLSTM(rng, 3, m)
		s[0] = simdtest.Draw(len(s[0]), simdtest.OneSign(rng))
		for i := range s[1:] {
			s[1+i] = simdtest.Draw(len(s[1+i]), part)
		}
		gates := s[0]
		for _, inner := range []bool{false, true} {
			s[0] = gates
			simdtest.Trial(t, "LSTMRows forward", 2e-6, s, func(s [][]Float) { lstmOf(s, m, false, inner).Forward(0, 3) })
			s[0] = simdtest.Draw(len(s[0]), part)
			for _, set := range []bool{false, true} {
				simdtest.Trial(t, "LSTMRows backward", 2e-6, s, func(s [][]Float) { lstmOf(s, m, set, inner).Backward(1, 3, make([]Float, 2*m)) })
			}
		}
	}
}

// Forward and Backward have the bits of the functions of one element, in assembly too.
func TestLSTMRowsAreTheirPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, m := range []int{1, 7, 8, 9, 31, 40, cpu.AtOnce + 3} {
		s := drawLSTM(rng, 2, m)
		s[5][0], s[7][0], s[8][0] = Float(math.Copysign(0, -1)), Float(math.Copysign(0, -1)), 0
		for k := range 4 {
			set, inner := k%2 == 1, k/2 == 1
			var other [][]Float
			for _, x := range s {
				other = append(other, slices.Clone(x))
			}
			p, q := lstmOf(s, m, set, inner), lstmOf(other, m, set, inner)
			rest := make([]Float, 2*m)
			p.Forward(0, 2)
			p.Backward(0, 2, rest)
			for r := range 2 {
				q.forwardGo(r, 0)
				q.backwardGo(r, rest)
			}
			for i, x := range s {
				for j, v := range x {
					if w := other[i][j]; math.Float64bits(float64(v)) != math.Float64bits(float64(w)) && (v == v || w == w) {
						t.Fatalf("rows of %d, set %v, inner %v: slice %d at %d is %v, by passes %v", m, set, inner, i, j, v, w)
					}
				}
			}
		}
	}
}
