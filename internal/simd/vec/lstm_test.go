package vec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// lstmOf are rows in slices: gates, cell, next, tanh, h, and the gradients of gates, cell, next and h.
func lstmOf(s [][]Float, m int, set, inner bool) *LSTMRows {
	return &LSTMRows{Inner: inner, M: m, Gates: s[0], Cell: s[1], Next: s[2], Tanh: s[3], H: s[4], DGates: s[5], DCell: s[6], DNext: s[7], DH: s[8], SetCell: set}
}

// peepingOf are such rows with peepholes, and then the sums for their gradients.
func peepingOf(s [][]Float, m int, set, inner bool) (p *LSTMRows, sums []Float) {
	p = lstmOf(s, m, set, inner)
	p.Peep = s[9][:3*m]
	return p, s[10][:3*m]
}

// drawLSTM draws such slices: half of the sizes have special numbers, which leave the fast way.
func drawLSTM(rng *rand.Rand, rows, m int) (s [][]Float) {
	draw := simdtest.Plain(rng)
	if m%2 == 1 {
		draw = simdtest.Some(rng)
	}
	for i, columns := range []int{4, 1, 1, 1, 1, 4, 1, 1, 1, 3, 3} {
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
			s[0] = gates
			simdtest.Trial(t, "LSTMRows forward with peepholes", 2e-6, s, func(s [][]Float) {
				p, _ := peepingOf(s, m, false, inner)
				p.Forward(0, 3)
			})
			s[0] = simdtest.Draw(len(s[0]), part)
			for _, set := range []bool{false, true} {
				simdtest.Trial(t, "LSTMRows backward", 2e-6, s, func(s [][]Float) { lstmOf(s, m, set, inner).Backward(1, 3, make([]Float, 2*m), nil) })
				simdtest.Trial(t, "LSTMRows backward with peepholes", 2e-6, s, func(s [][]Float) {
					p, sums := peepingOf(s, m, set, inner)
					p.Backward(1, 3, nil, sums)
				})
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
		for k := range 8 {
			set, inner, peeps := k&1 != 0, k&2 != 0, k&4 != 0
			var other [][]Float
			for _, x := range s {
				other = append(other, slices.Clone(x))
			}
			p, q := lstmOf(s, m, set, inner), lstmOf(other, m, set, inner)
			rest, sums, sums2 := make([]Float, 2*m), []Float(nil), []Float(nil)
			if peeps {
				p, sums = peepingOf(s, m, set, inner)
				q, sums2 = peepingOf(other, m, set, inner)
			}
			p.Forward(0, 2)
			p.Backward(0, 2, rest, sums)
			for r := range 2 {
				if q.forwardGo(r, 0); peeps {
					q.peepingGo(r, 0, sums2)
				} else {
					q.backwardGo(r, rest)
				}
			}
			what := fmt.Sprintf("rows of %d, set %v, inner %v, peepholes %v, and by passes", m, set, inner, peeps)
			compare.Slices(t, what, s, other, compare.SameBits.OrNaN())
		}
	}
}

func TestGatedTanhGrad(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, size := range []int{0, 1, 7, 8, 9, 16, 17, 40, cpu.AtOnce + 3} {
		var s [][]Float
		for range 4 {
			s = append(s, simdtest.Draw(size, simdtest.Some(rng)))
		}
		simdtest.Trial(t, "GatedTanhGrad", 0, s, func(s [][]Float) { GatedTanhGrad(s[0], s[1], s[2], s[3]) })
	}
}
