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

// gruOf are rows in slices: gates, q, old, next, bias, and the gradients of gates, q, old and next.
func gruOf(s [][]Float, m int, admits, bias bool) *GRURows {
	p := &GRURows{M: m, Admits: admits, Gates: s[0], Q: s[1], Old: s[2], Next: s[3], DGates: s[5], DQ: s[6], DOld: s[7], DNext: s[8]}
	if bias {
		p.Bias = s[4][:m]
	}
	return p
}

// drawGRU draws such slices, with gates and q by draw.
func drawGRU(rng *rand.Rand, rows, m int, draw func() Float) (s [][]Float) {
	for i, columns := range []int{3, 3, 1, 1, 1, 3, 3, 1, 1} {
		if i == 2 {
			draw = simdtest.Plain(rng)
		}
		s = append(s, simdtest.Draw(rows*columns*m, draw))
	}
	return s
}

func TestGRURows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	part := func() Float { return Float(0.1 + 0.8*rng.Float64()) }
	for m := range 70 {
		s := drawGRU(rng, 3, m, part) // so that nothing cancels
		s[2], s[4] = simdtest.Draw(len(s[2]), part), simdtest.Draw(len(s[4]), part)
		for _, form := range [][2]bool{{}, {true, false}, {false, true}, {true, true}} {
			simdtest.Trial(t, "GRURows forward", 4e-6, s, func(s [][]Float) { gruOf(s, m, form[0], form[1]).Forward(0, 3) })
			simdtest.Trial(t, "GRURows backward", 4e-6, s, func(s [][]Float) { gruOf(s, m, form[0], form[1]).Backward(1, 3, make([]Float, m)) })
		}
	}
}

// Forward and Backward have the bits of the functions of one element, in assembly too, also
// where numbers leave the fast way.
func TestGRURowsAreTheirPasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for _, m := range []int{1, 7, 8, 9, 31, 40, cpu.AtOnce + 3} {
		draw := simdtest.Plain(rng)
		if m%2 == 1 {
			draw = simdtest.Some(rng)
		}
		for k := range 4 {
			admits, bias := k&1 != 0, k&2 != 0
			s := drawGRU(rng, 2, m, draw)
			s[7][0], s[8][0] = Float(math.Copysign(0, -1)), Float(math.Copysign(0, -1))
			var other [][]Float
			for _, x := range s {
				other = append(other, slices.Clone(x))
			}
			p, q := gruOf(s, m, admits, bias), gruOf(other, m, admits, bias)
			rest := make([]Float, m)
			p.Forward(0, 2)
			p.Backward(0, 2, rest)
			for r := range 2 {
				q.forwardGo(r, 0)
				q.backwardGo(r, rest)
			}
			compare.Slices(t, fmt.Sprintf("rows of %d, admits %v, bias %v, and by passes", m, admits, bias), s, other, compare.SameBits.OrNaN())
		}
	}
}
