package attend

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// checkCompactGrads compares CompactGrads of edges between a few rows, which are in any order
// and not all asked for, with plain Go.
func checkCompactGrads(t *testing.T, rng *rand.Rand, h, d, n, sources int) {
	t.Helper()
	w := h * d
	b := CompactGrads{Width: d, H: h, Slope: 0.2, To: simdtest.Index(rng, n, sources), From: simdtest.Index(rng, n, 5), Signs: make([]uint8, n*w/8)}
	for i := range b.Signs {
		b.Signs[i] = uint8(rng.Uint32())
	}
	edges := simdtest.Index(rng, rng.IntN(2*n+1), max(n, 1))
	for _, odd := range []bool{false, true} {
		next := simdtest.NearOne(rng)
		if odd {
			next = simdtest.OneSign(rng)
		}
		rows := func(m int) []Float { return simdtest.Draw(m, next) }
		simdtest.Trial(t, fmt.Sprintf("CompactGrads of %d edges of %d heads of %d, extremes %v:", len(edges), h, d, odd), 2e-5,
			[][]Float{rows(sources * w), rows(5 * w), rows(w), rows(2 * n * h)},
			func(s [][]Float) {
				b := b
				b.DU, b.R, b.A, b.Z = s[0], s[1], s[2], s[3]
				b.Add(edges)
			})
	}
}

func TestCompactGrads(t *testing.T) {
	rng := rand.New(rand.NewPCG(29, 1))
	for _, n := range simdtest.Lengths() {
		checkCompactGrads(t, rng, 8, 8, n, 7)
		checkCompactGrads(t, rng, n%12, 8, n, 1)
		checkCompactGrads(t, rng, 1+n%3, 8*(n%9), n, 7)
	}
	for _, h := range []int{4, 8} { // so many rows that they are asked for beforehand
		checkCompactGrads(t, rng, h, 64/h, 2000, cpu.FarFrom/64+1)
	}
	checkCompactGrads(t, rng, 1, 8200, 2, 2) // too wide for assembly
}

// What ScoreBrief keeps is enough for the gradient of the sources.
func TestCompactGradsAreScoreGrad(t *testing.T) {
	rng := rand.New(rand.NewPCG(30, 1))
	for _, c := range []edgeRowsCase{{8, 8, []int{3, 0, 7}}, {2, 16, []int{5, 1}}} {
		f := c.edgeRows(rng, 4)
		n, w := int(f.Offsets[len(c.deg)]-3), c.h*c.d
		small := func(m int) []Float { return simdtest.Draw(m, func() Float { return Float(rng.IntN(9) - 4) }) } // exact, whatever the order
		f.Add, f.Slope = false, 0.5
		f.U, f.V, f.A, f.C, f.G, f.R = small(4*w), small(len(c.deg)*w), small(w), small(n*c.h), small(n*c.h), small(len(c.deg)*w)
		f.DV, f.DA, f.Z = make([]Float, len(c.deg)*w), make([]Float, w), make([]Float, n*w)
		f.ScoreGrad()
		sums := f
		sums.Add, sums.C, sums.V = true, f.G, f.R
		sums.Spread()
		want, dv, da := make([]Float, 4*w), f.DV, f.DA
		b := CompactGrads{DU: make([]Float, 4*w), R: f.R, A: f.A, Z: make([]Float, 2*n*c.h), Signs: make([]uint8, n*w/8), To: make([]int32, n), From: make([]int32, n), Width: c.d, H: c.h, Slope: f.Slope}
		for _, p := range rng.Perm(n) {
			f.Places = append(f.Places, int32(p))
		}
		f.each(func(r, e, u int) {
			b.To[f.Places[e]], b.From[f.Places[e]] = int32(u), int32(r)
			for j := range w {
				want[u*w+j] += f.Z[e*w+j]
			}
		})
		f.DV, f.DA, f.Z, f.Signs = make([]Float, len(dv)), make([]Float, w), b.Z, b.Signs
		f.ScoreBrief()
		b.Add(f.Places)
		for i, x := range [][2][]Float{{b.DU, want}, {f.DV, dv}, {f.DA, da}} {
			for j := range x[0] {
				if x[0][j] != x[1][j] {
					t.Fatalf("%v: gradient %d at %d is %v, want %v", c, i, j, x[0][j], x[1][j])
				}
			}
		}
	}
}

func FuzzCompactGrads(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(1), uint8(5))
	f.Add(uint64(2), uint8(3), uint8(4), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, h, d, n uint8) {
		checkCompactGrads(t, rand.New(rand.NewPCG(seed, 3)), int(h%12), 8*int(d%8), int(n), 6)
	})
}

func BenchmarkCompactGrads(b *testing.B) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, c := range [][2]int{{8, 8}, {1, 64}} {
		h, w := c[0], c[0]*c[1]
		r := CompactGrads{Width: c[1], H: h, Slope: 0.2, To: simdtest.Index(rng, 28, 60), From: simdtest.Index(rng, 28, 4), Signs: make([]uint8, 28*w/8)}
		r.DU, r.R, r.A, r.Z = make([]Float, 60*w), simdtest.Draw(4*w, simdtest.Plain(rng)), simdtest.Draw(w, simdtest.Plain(rng)), simdtest.Draw(2*28*h, simdtest.Plain(rng))
		edges := simdtest.Index(rng, 28, 28)
		b.Run(fmt.Sprintf("%dx%d", c[0], c[1]), func(b *testing.B) {
			for b.Loop() {
				r.Add(edges)
			}
		})
	}
}
