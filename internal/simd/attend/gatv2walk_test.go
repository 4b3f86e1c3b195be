package attend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// gatv2WalkOf returns destinations with so many edges, from edge 3 on, among sources.
func gatv2WalkOf(rng *rand.Rand, deg []int, sources int) GATv2Walk {
	f := edgeRowsCase{h: GATv2Heads, d: GATv2Heads, deg: deg}.edgeRows(rng, sources)
	s := GATv2Walk{Offsets: f.Offsets, Cols: f.Cols, Slope: Float(rng.Float64()), Apart: GATv2Heads + rng.IntN(3), Stream: f.Add, Set: rng.IntN(2) == 0}
	for _, e := range rng.Perm(int(f.Offsets[len(deg)] - 3)) {
		s.Places = append(s.Places, int32(e))
	}
	return s
}

// checkGATv2Walk compares both kernels with plain Go. What is summed is positive, so
// that nothing cancels.
func checkGATv2Walk(t *testing.T, rng *rand.Rand, deg []int, sources int) (done, of int) {
	t.Helper()
	s := gatv2WalkOf(rng, deg, sources)
	n, edges := len(deg), int(s.Offsets[len(deg)]-3)
	bias := rng.IntN(2) == 0
	pos, small := func() Float { return Float(math.Abs(rng.NormFloat64())) + 0.01 }, Float(2/float64(1+rng.IntN(20))) // some scores are out of range, or none
	if rng.IntN(4) == 0 {
		pos = simdtest.Positive(rng)
	}
	what := fmt.Sprintf("of %v edges, a bias %v", deg, bias)
	simdtest.Trial(t, "Attend "+what, 2e-5, [][]Float{
		simdtest.Draw(sources*gatv2Row, pos), simdtest.Draw(n*gatv2Row, pos), simdtest.Draw(gatv2Row, pos), simdtest.Draw(n*gatv2Row, pos),
		simdtest.Draw(n*s.Apart, pos), simdtest.Draw(n*s.Apart, pos), simdtest.Draw(gatv2Row, pos), simdtest.Draw(1, pos),
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
	simdtest.Trial(t, "Retrace "+what, 2e-4, [][]Float{
		simdtest.Draw(sources*gatv2Row, simdtest.NearOne(rng)), simdtest.Draw(n*gatv2Row, simdtest.NearOne(rng)), simdtest.Draw(gatv2Row, simdtest.NearOne(rng)), simdtest.Draw(n*gatv2Row, simdtest.NearOne(rng)),
		simdtest.Draw(n*s.Apart, zero), simdtest.Draw(n*s.Apart, pos), simdtest.Draw(n*gatv2Row, pos), simdtest.Draw(gatv2Row, pos),
		simdtest.Draw(edges*2*GATv2Heads, zero), simdtest.Draw(edges*gatv2Row, zero), simdtest.Draw(1, pos),
	}, func(x [][]Float) {
		k := s
		k.U, k.V, k.A, k.R, k.Top, k.Sum, k.DV, k.DA, k.Z = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]
		k.Signs, k.Work = make([]uint8, edges*GATv2Heads), make([]Float, GATv2Work)
		x[10][0] = Float(k.Retrace())
		done, of = done+int(x[10][0]), of+n
		for at := range x[9] {
			x[9][at] = Float(k.Signs[at/8] >> (at % 8) & 1)
		}
	})
	return done, of
}

func TestGATv2Walk(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 1))
	done, all := 0, 0
	for n := range 120 {
		some, of := checkGATv2Walk(t, rng, []int{n, 0, n / 2, 1, 3}, 1+rng.IntN(9))
		done, all = done+some, all+of
	}
	if done < all/2 || done == all {
		t.Errorf("%d of %d destinations were done: the kernels should stop at some", done, all)
	}
	checkGATv2Walk(t, rng, []int{1, 0, 3, 40}, cpu.FarFrom/gatv2Row+1) // rows are asked for beforehand
	checkGATv2Walk(t, rng, []int{GATv2Most - 1, 1, 1}, 9)              // the last is beyond a call
	checkGATv2Walk(t, rng, []int{GATv2Most + 1}, 9)
	checkGATv2Walk(t, rng, nil, 9)
}

// Results that are written past the caches have the bits of those that are not.
func TestGATv2WalkStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 1))
	next := func() Float { return Float(rng.NormFloat64()) / 4 }
	for range 30 {
		deg := []int{rng.IntN(5), rng.IntN(20), 0, 1}
		s := gatv2WalkOf(rng, deg, 9)
		s.U, s.V, s.A = simdtest.Draw(9*gatv2Row, next), simdtest.Draw(len(deg)*gatv2Row, next), simdtest.Draw(gatv2Row, next)
		s.Top, s.Sum = make([]Float, len(deg)*s.Apart), make([]Float, len(deg)*s.Apart)
		simdtest.StreamTrial(t, "Attend", len(deg)*gatv2Row, func(y []Float, stream bool) {
			k := s
			k.Y, k.Stream = y, stream
			if done := k.Attend(); done != len(deg) {
				t.Fatalf("did %d destinations of %d", done, len(deg))
			}
		})
	}
}

// A gradient that is infinite is that, and not NaN, with any number of edges.
func TestGATv2WalkInfinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	for n := range 5 {
		s := gatv2WalkOf(rng, []int{n}, 3)
		fill := func(n int, v Float) func() []Float {
			return func() []Float { return simdtest.Draw(n, func() Float { return v }) }
		}
		s.U, s.V, s.A, s.R = fill(3*gatv2Row, 2)(), fill(gatv2Row, 0)(), fill(gatv2Row, 0)(), fill(gatv2Row, 1e38)()
		simdtest.Trial(t, fmt.Sprintf("Retrace of %d edges", n), 1e-5, [][]Float{
			fill(s.Apart, 0)(), fill(s.Apart, Float(max(n, 1)))(), fill(gatv2Row, 0)(), fill(gatv2Row, 0)(), fill(n*2*GATv2Heads, 0)(),
		}, func(x [][]Float) {
			k := s
			k.Top, k.Sum, k.DV, k.DA, k.Z = x[0], x[1], x[2], x[3], x[4]
			k.Signs, k.Work = make([]uint8, n*GATv2Heads), make([]Float, GATv2Work)
			k.Retrace()
		})
	}
}
