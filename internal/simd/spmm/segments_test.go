package spmm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

func checkSegments(t *testing.T, rng *rand.Rand, rows, most, n int) {
	t.Helper()
	o, c := simdtest.Edges(rng, rows, 1, most)
	next, pos := simdtest.Some(rng), simdtest.Positive(rng)
	k := func(s ...[]Float) *Segments {
		return &Segments{Offsets: o, X: s[0], Y: s[1], Work: make([]Float, SegmentWork(n)), N: n}
	}
	what := fmt.Sprintf("softmax of %d segments of %d columns", rows, n)
	simdtest.Trial(t, what, 1e-6, [][]Float{simdtest.Draw(len(c)*n, next), simdtest.Draw(len(c)*n, next)}, func(s [][]Float) { k(s...).Softmax() })
	simdtest.Trial(t, what+" in place", 1e-6, [][]Float{simdtest.Draw(len(c)*n, next)}, func(s [][]Float) { k(s[0], s[0]).Softmax() })
	dx := simdtest.Draw(len(c)*n, pos)
	for i := range dx {
		dx[i] = Float(math.Abs(float64(dx[i])))
	}
	// y·(dy − c) loses digits where dy is near c, so dy is small beside it
	simdtest.Trial(t, what+", gradient", 1e-4, [][]Float{dx, simdtest.Draw(len(c)*n, simdtest.Plain(rng)), simdtest.Draw(len(c)*n, simdtest.Plain(rng))}, func(s [][]Float) {
		for i := range s[1] {
			s[1][i] = Float(math.Abs(float64(s[1][i])))
			s[2][i] = -1 - Float(math.Abs(float64(s[2][i])))/100
		}
		q := k(s[2], s[1])
		q.D = s[0]
		for i := range q.D {
			q.D[i] += 1e6 // so that only a wrong gradient shows
		}
		q.SoftmaxGrad()
	})
}

func TestAsmSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	for rows := range 60 {
		for _, n := range []int{1, 3, 8} {
			checkSegments(t, rng, rows, 9, n)
		}
	}
	for _, most := range simdtest.Lengths() {
		checkSegments(t, rng, 2, most, 8)
	}
}

func FuzzSegments(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most uint8) {
		checkSegments(t, rand.New(rand.NewPCG(seed, 0)), int(rows), int(most), 8)
	})
}
