package attend

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// edgeRowsCase is the shape of EdgeRows: rows of h heads of d elements, and how many
// edges each destination has.
type edgeRowsCase struct {
	h, d int
	deg  []int
}

// edgeRows returns destinations with so many edges, from edge 3 on, among sources.
func (c edgeRowsCase) edgeRows(rng *rand.Rand, sources int) EdgeRows {
	f := EdgeRows{Offsets: []int64{3}, Width: c.d, H: c.h, Slope: 0.2, Add: rng.IntN(2) == 0, Ahead: rng.IntN(60)}
	for _, n := range c.deg {
		f.Offsets = append(f.Offsets, f.Offsets[len(f.Offsets)-1]+int64(n))
	}
	f.Cols = simdtest.Index(rng, int(f.Offsets[len(c.deg)])+rng.IntN(40), sources)
	return f
}

// fanKernels are the kernels, and whether what they sum has to be positive so
// that nothing cancels.
var fanKernels = []struct {
	name string
	sums bool
	run  func(f *EdgeRows)
}{
	{"Score", true, (*EdgeRows).Score},
	{"ScoreGrad", true, (*EdgeRows).ScoreGrad},
	{"ScoreDots", true, (*EdgeRows).ScoreDots},
	{"ScoreBrief", true, scoreBrief},
	{"Sum", true, (*EdgeRows).Sum},
	{"Spread", false, (*EdgeRows).Spread},
	{"Dots", true, (*EdgeRows).Dots},
	{"Affine", true, (*EdgeRows).Affine},
	{"AffineGrad", true, (*EdgeRows).AffineGrad},
}

// scoreBrief is ScoreBrief of rows that it is made for. Edges have their places the
// other way round, and the bits are made numbers, in D.
func scoreBrief(f *EdgeRows) {
	if f.Width%8 != 0 {
		return
	}
	const guard = 0xa5
	edges, w := int(f.Offsets[len(f.Offsets)-1]-f.Offsets[0]), f.H*f.Width
	g, bits := *f, slices.Repeat([]uint8{guard}, edges*w/8+1)
	g.Z, g.Signs = f.Z[:min(len(f.Z), 2*f.H*edges)], bits[:edges*w/8]
	for e := range edges {
		g.Places = append(g.Places, int32(edges-1-e))
	}
	g.ScoreBrief()
	if bits[edges*w/8] != guard {
		panic("ScoreBrief wrote beyond its bits")
	}
	if len(f.Offsets) < 2 || edges == 0 {
		return
	}
	for at := range edges * w {
		f.D[at] = Float(bits[at/8] >> (at % 8) & 1)
	}
}

func checkEdgeRows(t *testing.T, rng *rand.Rand, c edgeRowsCase) {
	t.Helper()
	checkFanOf(t, rng, c, 1+rng.IntN(9))
}

func checkFanOf(t *testing.T, rng *rand.Rand, c edgeRowsCase, sources int) {
	t.Helper()
	f := c.edgeRows(rng, sources)
	n, w := int(f.Offsets[len(c.deg)]-3), c.h*c.d
	arrays := func(next func() Float) [][]Float {
		rows := func(m int) []Float { return simdtest.Draw(m, next) }
		return [][]Float{rows(sources * w), rows(len(c.deg) * w), rows(w), rows(n * c.h), rows(n * w), rows(n * w), rows(n * c.h), rows(len(c.deg) * w), rows(w), rows(len(c.deg) * w)}
	}
	even, special, oneSign := arrays(simdtest.NearOne(rng)), arrays(simdtest.Some(rng)), arrays(simdtest.OneSign(rng))
	for _, k := range fanKernels {
		for _, odd := range []bool{false, true} {
			with, tolerance := even, 2e-5
			if odd && !k.sums {
				with, tolerance = special, 0
			} else if odd {
				with = oneSign
			}
			simdtest.Trial(t, fmt.Sprintf("%s of %d heads of %d, %v edges, added %v, extremes %v:", k.name, c.h, c.d, c.deg, f.Add, odd), tolerance, with,
				func(s [][]Float) {
					f.U, f.V, f.A, f.C, f.Z, f.D, f.G, f.DV, f.DA, f.R = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]
					k.run(&f)
				})
		}
	}
}

func TestEdgeRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	for _, n := range simdtest.Lengths() {
		checkEdgeRows(t, rng, edgeRowsCase{1, n, []int{1, 0, 3}})
		checkEdgeRows(t, rng, edgeRowsCase{3, n, []int{0, 2, 1}})
		if n < 24 || n%24 == 1 { // twice each rest of the edges and number of heads, and some more
			checkEdgeRows(t, rng, edgeRowsCase{8, 8, []int{n, 0, n / 2, 1}})
			checkEdgeRows(t, rng, edgeRowsCase{n % 12, 8, []int{n, 1}})
		}
	}
	for _, h := range []int{1, 4, 8} { // so many rows that they are asked for beforehand
		checkFanOf(t, rng, edgeRowsCase{h, 64 / h, []int{1, 0, 3, 40}}, cpu.FarFrom/64+1)
	}
	checkEdgeRows(t, rng, edgeRowsCase{8, 8, nil})
	checkEdgeRows(t, rng, edgeRowsCase{2, 64, []int{600}}) // many for one call
	checkEdgeRows(t, rng, edgeRowsCase{1, 8200, []int{2}}) // too wide for assembly
}

// The slope of what is negative is told apart from that of the rest, in each lane.
func TestEdgeRowsSigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	for _, c := range []edgeRowsCase{{8, 8, []int{3, 0, 7}}, {2, 16, []int{5}}} {
		f := c.edgeRows(rng, 4)
		n, w := int(f.Offsets[len(c.deg)]-3), c.h*c.d
		sign := func() Float { return Float(rng.IntN(9) - 4) } // exact, whatever the order
		f.Slope = 0.5
		for _, k := range fanKernels {
			rows := func(m int) []Float { return simdtest.Draw(m, sign) }
			simdtest.Trial(t, k.name+" of small integers", 0,
				[][]Float{rows(4 * w), rows(len(c.deg) * w), rows(w), rows(n * c.h), rows(n * w), rows(n * w), rows(n * c.h), rows(len(c.deg) * w), rows(w), rows(len(c.deg) * w)},
				func(s [][]Float) {
					g := f
					g.U, g.V, g.A, g.C, g.Z, g.D, g.G, g.DV, g.DA, g.R = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]
					k.run(&g)
				})
		}
	}
}

// Sums do not depend on how edges come in parts.
func TestEdgeRowsParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 1))
	for _, c := range []edgeRowsCase{{8, 8, []int{40}}, {1, 64, []int{40}}, {2, 5, []int{40}}} {
		whole := c.edgeRows(rng, 7)
		w := c.h * c.d
		whole.U, whole.C = simdtest.Draw(7*w, simdtest.Plain(rng)), simdtest.Draw(40*c.h, simdtest.Plain(rng))
		parts := whole
		whole.DV, parts.DV = make([]Float, w), make([]Float, w)
		whole.Sum()
		for at := 0; at < 40; {
			n := min(1+rng.IntN(9), 40-at)
			p := parts
			p.Offsets = []int64{int64(3 + at), int64(3 + at + n)}
			p.C = p.C[at*c.h:]
			p.Sum()
			at += n
		}
		if !slices.Equal(whole.DV, parts.DV) {
			t.Errorf("%v: the sum of 40 edges depends on their parts", c)
		}
	}
}

func FuzzEdgeRows(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(8), uint8(5))
	f.Add(uint64(2), uint8(1), uint8(64), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, h, d, n uint8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		checkEdgeRows(t, rng, edgeRowsCase{int(h % 20), int(d % 80), []int{int(n % 50), rng.IntN(4), rng.IntN(20)}})
	})
}

func BenchmarkEdgeRows(b *testing.B) {
	rng := rand.New(rand.NewPCG(28, 1))
	for _, c := range []edgeRowsCase{{8, 8, []int{7, 7, 7, 7}}, {1, 64, []int{7, 7, 7, 7}}} {
		f := c.edgeRows(rng, 60)
		w := c.h * c.d
		f.U, f.V, f.A, f.C = simdtest.Draw(60*w, simdtest.Plain(rng)), simdtest.Draw(4*w, simdtest.Plain(rng)), simdtest.Draw(w, simdtest.Plain(rng)), simdtest.Draw(28*c.h, simdtest.Plain(rng))
		f.Z, f.D, f.G, f.DV, f.DA, f.R = make([]Float, 28*w), simdtest.Draw(28*w, simdtest.Plain(rng)), make([]Float, 28*c.h), make([]Float, 4*w), make([]Float, w), simdtest.Draw(4*w, simdtest.Plain(rng))
		for _, k := range fanKernels {
			b.Run(fmt.Sprintf("%s/%dx%d", k.name, c.h, c.d), func(b *testing.B) {
				for b.Loop() {
					k.run(&f)
				}
			})
		}
	}
}
