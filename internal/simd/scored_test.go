package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// scoredOf returns destinations with so many edges, from edge 3 on, among sources.
func scoredOf(rng *rand.Rand, deg []int, sources int) Scored {
	f := fanCase{h: ScoredHeads, d: ScoredHeads, deg: deg}.fan(rng, sources)
	s := Scored{Offsets: f.Offsets, Cols: f.Cols, Slope: Float(rng.Float64()), Apart: ScoredHeads + rng.IntN(3), Stream: f.Add, Set: rng.IntN(2) == 0}
	for _, e := range rng.Perm(int(f.Offsets[len(deg)] - 3)) {
		s.Places = append(s.Places, int32(e))
	}
	return s
}

// checkScored compares both kernels with plain Go. What is summed is positive, so
// that nothing cancels.
func checkScored(t *testing.T, rng *rand.Rand, deg []int, sources int) (done, of int) {
	t.Helper()
	s := scoredOf(rng, deg, sources)
	n, edges := len(deg), int(s.Offsets[len(deg)]-3)
	bias := rng.IntN(2) == 0
	pos, small := func() Float { return Float(math.Abs(rng.NormFloat64())) + 0.01 }, Float(2/float64(1+rng.IntN(20))) // some scores are wild, or none
	if rng.IntN(4) == 0 {
		pos = positive(rng)
	}
	what := fmt.Sprintf("of %v edges, a bias %v", deg, bias)
	trial(t, "Attend "+what, 2e-5, [][]Float{
		draw(sources*scoredRow, pos), draw(n*scoredRow, pos), draw(scoredRow, pos), draw(n*scoredRow, pos),
		draw(n*s.Apart, pos), draw(n*s.Apart, pos), draw(scoredRow, pos), draw(1, pos),
	}, func(x [][]Float) {
		k := s
		for i := range x[2] {
			x[2][i] *= small
		}
		k.U, k.V, k.A, k.Y, k.Top, k.Sum = x[0], x[1], x[2], x[3], x[4], x[5]
		if bias {
			k.Bias = x[6]
		}
		x[7][0] = Float(k.Attend())
		done, of = done+int(x[7][0]), of+n
	})
	zero := func() Float { return 0 }
	trial(t, "Retrace "+what, 2e-4, [][]Float{
		draw(sources*scoredRow, rng64(rng)), draw(n*scoredRow, rng64(rng)), draw(scoredRow, rng64(rng)), draw(n*scoredRow, rng64(rng)),
		draw(n*s.Apart, zero), draw(n*s.Apart, pos), draw(n*scoredRow, pos), draw(scoredRow, pos),
		draw(edges*2*ScoredHeads, zero), draw(edges*scoredRow, zero), draw(1, pos),
	}, func(x [][]Float) {
		k := s
		k.U, k.V, k.A, k.R, k.Top, k.Sum, k.DV, k.DA, k.Z = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]
		k.Signs, k.Work = make([]uint8, edges*ScoredHeads), make([]Float, ScoredWork)
		x[10][0] = Float(k.Retrace())
		done, of = done+int(x[10][0]), of+n
		for at := range x[9] {
			x[9][at] = Float(k.Signs[at/8] >> (at % 8) & 1)
		}
	})
	return done, of
}

func TestScored(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	done, all := 0, 0
	for n := range 120 {
		some, of := checkScored(t, rng, []int{n, 0, n / 2, 1, 3}, 1+rng.IntN(9))
		done, all = done+some, all+of
	}
	if done < all/2 || done == all {
		t.Errorf("%d of %d destinations were done: the kernels should stop at some", done, all)
	}
	checkScored(t, rng, []int{1, 0, 3, 40}, farFrom/scoredRow+1) // rows are asked for beforehand
	checkScored(t, rng, []int{ScoredMost - 1, 1, 1}, 9)          // the last is beyond a call
	checkScored(t, rng, []int{ScoredMost + 1}, 9)
	checkScored(t, rng, nil, 9)
}

// Results that are written past the caches have the bits of those that are not.
func TestScoredStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 1))
	next := func() Float { return Float(rng.NormFloat64()) / 4 }
	for range 30 {
		deg := []int{rng.IntN(5), rng.IntN(20), 0, 1}
		s := scoredOf(rng, deg, 9)
		s.U, s.V, s.A = draw(9*scoredRow, next), draw(len(deg)*scoredRow, next), draw(scoredRow, next)
		s.Top, s.Sum = make([]Float, len(deg)*s.Apart), make([]Float, len(deg)*s.Apart)
		pastTrial(t, "Attend", len(deg)*scoredRow, func(y []Float, past bool) {
			k := s
			k.Y, k.Stream = y, past
			if done := k.Attend(); done != len(deg) {
				t.Fatalf("did %d destinations of %d", done, len(deg))
			}
		})
	}
}

// A gradient that is infinite is that, and not NaN, with any number of edges.
func TestScoredInfinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	for n := range 5 {
		s := scoredOf(rng, []int{n}, 3)
		fill := func(n int, v Float) func() []Float {
			return func() []Float { return draw(n, func() Float { return v }) }
		}
		s.U, s.V, s.A, s.R = fill(3*scoredRow, 2)(), fill(scoredRow, 0)(), fill(scoredRow, 0)(), fill(scoredRow, 1e38)()
		trial(t, fmt.Sprintf("Retrace of %d edges", n), 1e-5, [][]Float{
			fill(s.Apart, 0)(), fill(s.Apart, Float(max(n, 1)))(), fill(scoredRow, 0)(), fill(scoredRow, 0)(), fill(n*2*ScoredHeads, 0)(),
		}, func(x [][]Float) {
			k := s
			k.Top, k.Sum, k.DV, k.DA, k.Z = x[0], x[1], x[2], x[3], x[4]
			k.Signs, k.Work = make([]uint8, n*ScoredHeads), make([]Float, ScoredWork)
			k.Retrace()
		})
	}
}
