package simd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// fanCase is the shape of a Fan: rows of h heads of d elements, and how many
// edges each destination has.
type fanCase struct {
	h, d int
	deg  []int
}

// fan returns destinations with so many edges, from edge 3 on, among sources.
func (c fanCase) fan(rng *rand.Rand, sources int) Fan {
	f := Fan{Offsets: []int64{3}, Width: c.d, H: c.h, Slope: 0.2, Add: rng.IntN(2) == 0, Ahead: rng.IntN(60)}
	for _, n := range c.deg {
		f.Offsets = append(f.Offsets, f.Offsets[len(f.Offsets)-1]+int64(n))
	}
	f.Cols = index(rng, int(f.Offsets[len(c.deg)])+rng.IntN(40), sources)
	return f
}

// fanKernels are the kernels, and whether what they sum has to be positive so
// that nothing cancels.
var fanKernels = []struct {
	name string
	sums bool
	run  func(f *Fan)
}{
	{"Score", true, (*Fan).Score},
	{"ScoreGrad", true, (*Fan).ScoreGrad},
	{"ScoreDots", true, (*Fan).ScoreDots},
	{"ScoreBrief", true, scoreBrief},
	{"Sum", true, (*Fan).Sum},
	{"Spread", false, (*Fan).Spread},
	{"Dots", true, (*Fan).Dots},
	{"Affine", true, (*Fan).Affine},
	{"AffineGrad", true, (*Fan).AffineGrad},
}

// scoreBrief is ScoreBrief of rows that it is made for. Edges have their places the
// other way round, and the bits are made numbers, in D.
func scoreBrief(f *Fan) {
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

func checkFan(t *testing.T, rng *rand.Rand, c fanCase) {
	t.Helper()
	checkFanOf(t, rng, c, 1+rng.IntN(9))
}

func checkFanOf(t *testing.T, rng *rand.Rand, c fanCase, sources int) {
	t.Helper()
	f := c.fan(rng, sources)
	n, w := int(f.Offsets[len(c.deg)]-3), c.h*c.d
	for _, k := range fanKernels {
		for _, odd := range []bool{false, true} {
			next, tolerance := rng64(rng), 2e-5
			if odd && !k.sums {
				next, tolerance = some(rng), 0
			} else if odd {
				next = oneSign(rng)
			}
			rows := func(m int) []Float { return draw(m, next) }
			trial(t, fmt.Sprintf("%s of %d heads of %d, %v edges, added %v, extremes %v:", k.name, c.h, c.d, c.deg, f.Add, odd), tolerance,
				[][]Float{rows(sources * w), rows(len(c.deg) * w), rows(w), rows(n * c.h), rows(n * w), rows(n * w), rows(n * c.h), rows(len(c.deg) * w), rows(w), rows(len(c.deg) * w)},
				func(s [][]Float) {
					f.U, f.V, f.A, f.C, f.Z, f.D, f.G, f.DV, f.DA, f.R = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7], s[8], s[9]
					k.run(&f)
				})
		}
	}
}

func TestFan(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	for w := range 201 {
		checkFan(t, rng, fanCase{1, w, []int{1, 0, 3}})
		checkFan(t, rng, fanCase{3, w, []int{0, 2, 1}})
	}
	for n := range 201 {
		checkFan(t, rng, fanCase{8, 8, []int{n, 0, n / 2, 1}})
		checkFan(t, rng, fanCase{n % 12, 8, []int{n, 1}})
	}
	for _, h := range []int{1, 4, 8} { // so many rows that they are asked for beforehand
		checkFanOf(t, rng, fanCase{h, 64 / h, []int{1, 0, 3, 40}}, farFrom/64+1)
	}
	checkFan(t, rng, fanCase{8, 8, nil})
	checkFan(t, rng, fanCase{2, 64, []int{600}}) // many for one call
	checkFan(t, rng, fanCase{1, 8200, []int{2}}) // too wide for assembly
}

// The slope of what is negative is told apart from that of the rest, in each lane.
func TestFanSigns(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	for _, c := range []fanCase{{8, 8, []int{3, 0, 7}}, {2, 16, []int{5}}} {
		f := c.fan(rng, 4)
		n, w := int(f.Offsets[len(c.deg)]-3), c.h*c.d
		sign := func() Float { return Float(rng.IntN(9) - 4) } // exact, whatever the order
		f.Slope = 0.5
		for _, k := range fanKernels {
			rows := func(m int) []Float { return draw(m, sign) }
			trial(t, k.name+" of small integers", 0,
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
func TestFanParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 1))
	for _, c := range []fanCase{{8, 8, []int{40}}, {1, 64, []int{40}}, {2, 5, []int{40}}} {
		whole := c.fan(rng, 7)
		w := c.h * c.d
		whole.U, whole.C = draw(7*w, plain(rng)), draw(40*c.h, plain(rng))
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

func FuzzFan(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(8), uint8(5))
	f.Add(uint64(2), uint8(1), uint8(64), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, h, d, n uint8) {
		rng := rand.New(rand.NewPCG(seed, 3))
		checkFan(t, rng, fanCase{int(h % 20), int(d % 80), []int{int(n % 50), rng.IntN(4), rng.IntN(20)}})
	})
}

func BenchmarkFan(b *testing.B) {
	rng := rand.New(rand.NewPCG(28, 1))
	for _, c := range []fanCase{{8, 8, []int{7, 7, 7, 7}}, {1, 64, []int{7, 7, 7, 7}}} {
		f := c.fan(rng, 60)
		w := c.h * c.d
		f.U, f.V, f.A, f.C = draw(60*w, plain(rng)), draw(4*w, plain(rng)), draw(w, plain(rng)), draw(28*c.h, plain(rng))
		f.Z, f.D, f.G, f.DV, f.DA, f.R = make([]Float, 28*w), draw(28*w, plain(rng)), make([]Float, 28*c.h), make([]Float, 4*w), make([]Float, w), draw(4*w, plain(rng))
		for _, k := range fanKernels {
			b.Run(fmt.Sprintf("%s/%dx%d", k.name, c.h, c.d), func(b *testing.B) {
				for b.Loop() {
					k.run(&f)
				}
			})
		}
	}
}
