package attend

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// dotWalkOf returns nodes with so many edges, from edge 3 on, among columns.
func dotWalkOf(rng *rand.Rand, deg []int, columns int) DotWalk {
	f := edgeRowsCase{h: 8, d: 8, deg: deg}.edgeRows(rng, columns)
	return DotWalk{Offsets: f.Offsets, Cols: f.Cols, Scale: Float(0.1 + rng.Float64()), Stream: f.Add,
		SetQ: rng.IntN(2) == 0, SetK: rng.IntN(2) == 0, SetV: rng.IntN(2) == 0, Work: make([]Float, DotWork)}
}

// above adds so much to sums that may be near zero that what they lost there does not count.
func above(x []Float) {
	for i := range x {
		x[i] += 1000
	}
}

// checkDotWalk compares the three kernels with plain Go.
func checkDotWalk(t *testing.T, rng *rand.Rand, deg []int, columns int) {
	t.Helper()
	s := dotWalkOf(rng, deg, columns)
	n, edges := len(deg), int(s.Offsets[len(deg)]-3)
	far := Float(1 + 30*rng.IntN(2)) // scores that weigh nothing are among those of far rows
	drops, adds, wanted := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(4) != 0
	next := func() Float { return Float(rng.NormFloat64()) }
	draw := func(rows int) []Float { return simdtest.Draw(rows*DotRow, next) }
	kept := simdtest.Draw(8*(edges+1), func() Float { return Float(2 * rng.IntN(2)) })
	what := fmt.Sprintf("of %v edges, %g times, dropout %v", deg, far, drops)
	set := func(k *DotWalk, kept []Float) {
		if drops {
			k.Kept = kept
		}
		k.Scale *= far
	}
	simdtest.Trial(t, "Attend "+what, 5e-7, [][]Float{draw(n), draw(columns), draw(columns), draw(n), simdtest.Draw(n*DotRecord, next), kept, draw(n), make([]Float, 1)}, func(x [][]Float) {
		k := s
		set(&k, x[5])
		if adds {
			k.Add = x[6]
		}
		k.Q, k.K, k.V, k.Y, k.Rec = x[0], x[1], x[2], x[3], x[4]
		x[7][0] = Float(k.Attend())
		above(k.Y)
		above(k.Rec)
	})
	rec := func(rows int) []Float {
		x := simdtest.Draw(rows*DotRecord, func() Float { return Float(1 + rng.Float64()) })
		for i := range x {
			if i%DotRecord/8 == 1 {
				x[i] /= 40 // so that weights are as small as those that add up to 1
			}
		}
		return x
	}
	for stage := DotWhole; stage <= DotCentred; stage++ {
		simdtest.Trial(t, fmt.Sprint("Retrace ", what, " stage ", stage), 5e-7, [][]Float{draw(n), draw(columns), draw(columns), draw(n), rec(n), draw(n), kept, make([]Float, 1)}, func(x [][]Float) {
			k := s
			set(&k, x[6])
			k.Scale /= far // nothing here keeps scores below the largest
			k.Q, k.K, k.V, k.R, k.Rec, k.Stage = x[0], x[1], x[2], x[3], x[4], stage
			for i := range 2 * n * DotRow { // rows so small that no weight is large
				x[i/(n*DotRow)*3][i%(n*DotRow)] /= 4
			}
			if wanted {
				k.DQ = x[5]
			}
			x[7][0] = Float(k.Retrace())
			above(x[5])
			above(x[4])
		})
	}
	simdtest.Trial(t, "Return "+what, 5e-7, [][]Float{draw(columns), draw(n), draw(n), draw(columns), rec(columns), draw(n), draw(n), kept, make([]Float, 1)}, func(x [][]Float) {
		k := s
		set(&k, x[7])
		k.Scale /= far
		k.Q, k.K, k.V, k.R, k.Rec, k.DV = x[0], x[1], x[2], x[3], x[4], x[6]
		for i := range x[1] {
			x[1][i] /= 4
		}
		if wanted {
			k.DK = x[5]
		}
		x[8][0] = Float(k.Return())
		above(x[5])
		above(x[6])
	})
}

// alsoNarrow runs a test by AVX2, too, where the processor has more.
func alsoNarrow(t *testing.T, test func(t *testing.T)) {
	if cpu.Path() == "avx512" {
		defer cpu.Narrow()()
		t.Run("of AVX2", test)
	}
}

func TestDotWalk(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 1))
	for n := range 60 {
		checkDotWalk(t, rng, []int{n, 0, n / 2, 1, 3}, 1+rng.IntN(9))
	}
	checkDotWalk(t, rng, []int{1, 0, 3, 40}, cpu.FarFrom/DotRow+1) // rows are asked for beforehand
	checkDotWalk(t, rng, []int{DotMost - 1, 1, 1}, 9)              // the last is beyond a call
	checkDotWalk(t, rng, []int{DotMost + 1}, 9)
	checkDotWalk(t, rng, nil, 9)
}

// The kernel stops before a destination whose largest score is no number, and the slow way
// does it: infinities of one sign share all weight, and where all is −∞ nothing weighs.
func TestDotWalkOdd(t *testing.T) {
	alsoNarrow(t, TestDotWalkOdd)
	inf := Float(math.Inf(1))
	for _, c := range []struct{ k0, k1, want Float }{{inf, 1, 5}, {inf, inf, 6}, {-inf, 2, 7}, {-inf, -inf, 0}, {1, 1, 6}} {
		for _, edges := range []int{2, 4} { // in pairs, and each twice
			s := DotWalk{Offsets: []int64{0, int64(edges)}, Cols: []int32{0, 1, 0, 1}[:edges], Scale: 1, Work: make([]Float, DotWork)}
			s.Q, s.K, s.V, s.Y, s.Rec = make([]Float, DotRow), make([]Float, 2*DotRow), make([]Float, 2*DotRow), make([]Float, DotRow), make([]Float, DotRecord)
			for h := range 8 {
				s.Q[8*h], s.K[8*h], s.K[DotRow+8*h], s.V[8*h], s.V[DotRow+8*h] = 1, 1, 1, 5, 7
			}
			s.K[8*5], s.K[DotRow+8*5] = c.k0, c.k1
			if s.Attend() == 0 {
				s.AttendOdd()
			} else if top := max(c.k0, c.k1); cpu.AVX2 && top-top != 0 {
				t.Errorf("the kernel took a largest score of %g", top)
			}
			for h := range 8 {
				want := Float(6)
				if h == 5 {
					want = c.want
				}
				if got := s.Y[8*h]; got != want {
					t.Errorf("scores %g and %g, %d edges: head %d is %g, want %g", c.k0, c.k1, edges, h, got, want)
				}
			}
		}
	}
}

// A value that is infinite stays that, whether the number of edges is odd or even.
func TestDotWalkInfinite(t *testing.T) {
	alsoNarrow(t, TestDotWalkInfinite)
	for n := 1; n < 6; n++ {
		rng := rand.New(rand.NewPCG(72, uint64(n)))
		s := dotWalkOf(rng, []int{n}, 1)
		fill := func(v Float) []Float { return simdtest.Draw(DotRow, func() Float { return v }) }
		s.Q, s.K, s.V, s.Y = fill(1), fill(1), fill(Float(math.Inf(1))), fill(0)
		s.Attend()
		for j, y := range s.Y {
			if !math.IsInf(float64(y), 1) {
				t.Fatalf("%d edges: element %d is %g, want +Inf", n, j, y)
			}
		}
	}
}

// Of a destination that hears one source no score has a gradient, not even of rounding.
func TestDotWalkLone(t *testing.T) {
	alsoNarrow(t, TestDotWalkLone)
	rng := rand.New(rand.NewPCG(73, 1))
	next := func() Float { return Float(rng.NormFloat64()) * 100 }
	draw := func() []Float { return simdtest.Draw(3*DotRow, next) }
	for _, kept := range [][]Float{nil, simdtest.Draw(32, func() Float { return 1.25 })} {
		s := DotWalk{Offsets: []int64{0, 1, 2, 3}, Cols: []int32{1, 2, 0}, Scale: 0.3, Kept: kept, Work: make([]Float, DotWork), SetQ: true, SetK: true, SetV: true}
		s.Q, s.K, s.V, s.R, s.Y, s.DQ, s.DK, s.DV = draw(), draw(), draw(), draw(), draw(), draw(), draw(), draw()
		s.Rec = make([]Float, 3*DotRecord)
		s.Attend()
		s.Retrace()
		s.Cols = []int32{2, 0, 1} // the transpose
		s.Return()
		for i := range s.DQ {
			if s.DQ[i] != 0 || s.DK[i] != 0 {
				t.Fatalf("element %d has gradients %g of Q and %g of K, want 0", i, s.DQ[i], s.DK[i])
			}
		}
	}
}

func BenchmarkDotWalk(b *testing.B) {
	rng := rand.New(rand.NewPCG(74, 1))
	deg := make([]int, 128)
	for i := range deg {
		deg[i] = 1 + rng.IntN(13)
	}
	const columns = 500
	s := dotWalkOf(rng, deg, columns)
	draw := func() []Float { return simdtest.Draw(columns*DotRow, func() Float { return Float(rng.NormFloat64()) }) }
	s.Q, s.K, s.V, s.R, s.Y, s.DQ, s.DK, s.DV = draw(), draw(), draw(), draw(), draw(), draw(), draw(), draw()
	s.Rec = simdtest.Draw(columns*DotRecord, func() Float { return 1 })
	for name, run := range map[string]func() int{"Attend": s.Attend, "Retrace": s.Retrace, "Return": s.Return} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.Offsets[len(deg)]-3), "ns/edge")
		})
	}
}
