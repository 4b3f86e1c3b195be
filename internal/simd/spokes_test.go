package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// spokesOf returns nodes with edges to columns, and random strides: for eight heads
// or one.
func spokesOf(rng *rand.Rand, rows, cols, most int) func() *Spokes {
	o, c := edgesOf(rng, rows, cols, most)
	perm := make([]int32, len(c))
	for i := range perm {
		perm[i] = rng.Int32()
	}
	k := Spokes{
		Offsets: o, Cols: c, Perm: perm, Last: len(c) - 1, Ahead: rng.IntN(2) * 3,
		AddY: rng.IntN(2), AddRec: rng.IntN(2), Heads: 1 + 7*rng.IntN(2), Width: 8 - max(0, rng.IntN(12)-4), Factors: make([]Float, SpokesMost),
		Stream: rng.IntN(2) == 0,
	}
	heads, width := k.heads()
	stride := func(n int) int { return n + rng.IntN(3) }
	k.FarStride, k.RecStride = stride(SpokeRecord*heads), stride(SpokeRecord*heads)
	k.OwnStride, k.DerStride = stride(2*heads), stride(heads)
	k.XStride, k.YStride, k.VStride = stride(heads*width), stride(heads*width), stride(heads*width)
	slope, column := Float(rng.Float64()), rng.IntN(20)
	var d *Dropout
	if rng.IntN(2) == 0 {
		mask := NewDropout(rng.Uint64(), 1, 2, 0.4)
		d = &mask
	}
	return func() *Spokes {
		s := k
		s.Prepare(slope, d, column)
		return &s
	}
}

// checkSpokes compares both kernels with plain Go.
func checkSpokes(t *testing.T, rng *rand.Rand, rows, most int) {
	t.Helper()
	const cols = 9
	k := spokesOf(rng, rows, cols, most)
	pos := func() Float { return Float(math.Abs(rng.NormFloat64())) + 0.01 }
	s := k()
	heads, _ := s.heads()
	node := func(stride int) int { return rows * stride }
	var done [2][]int
	what := fmt.Sprintf("%d nodes of up to %d edges, %d heads of %d", rows, most, s.Heads, s.Width)
	with := heads == 8 && s.Width == 8 && rng.IntN(2) == 0
	trial(t, "Attend, "+what, 2e-5, [][]Float{
		draw(cols*s.FarStride, pos), draw(cols*s.XStride, positive(rng)), draw(node(s.YStride), pos), draw(node(s.RecStride), pos), draw(64, pos),
	}, func(x [][]Float) {
		s := k()
		s.Far, s.X, s.Y, s.Rec = x[0], x[1], x[2], x[3]
		if with {
			s.Bias = x[4]
		}
		done[0] = append(done[0], s.Attend())
	})
	rec := draw(cols*s.FarStride, pos)
	for u := range cols {
		for h := range heads {
			rec[u*s.FarStride+2*heads+h] = -pos() // so that dz has one sign
		}
	}
	trial(t, "Retrace, "+what, 2e-5, [][]Float{
		rec, draw(cols*s.XStride, pos), draw(node(s.YStride), pos), draw(node(s.RecStride), pos),
		draw(node(s.OwnStride), pos), draw(node(s.VStride), pos), draw(cols*s.DerStride, pos),
	}, func(x [][]Float) {
		s := k()
		s.Far, s.X, s.Y, s.Rec, s.Own, s.V, s.Der = x[0], x[1], x[2], x[3], x[4], x[5], x[6]
		done[1] = append(done[1], s.Retrace())
	})
	if heads == 1 {
		trial(t, "Pair, "+what, 2e-5, [][]Float{draw(node(s.XStride), pos), draw(node(s.VStride), pos), draw(node(s.RecStride), pos)}, func(x [][]Float) {
			s := k()
			s.X, s.V, s.Rec = x[0], x[1], x[2]
			s.Pair(rows)
		})
	}
	for i, d := range done {
		if d[0] != d[1] {
			t.Fatalf("kernel %d, %s: did %d nodes, in plain Go %d", i, what, d[0], d[1])
		}
	}
}

func TestAsmSpokes(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	for rows := range 40 {
		for _, most := range []int{0, 1, 5, 20} {
			checkSpokes(t, rng, rows, most)
		}
	}
	for most := range 200 {
		checkSpokes(t, rng, 2, most)
	}
	checkSpokes(t, rng, 5, SpokesMost)
	checkSpokes(t, rng, 1, 2*SpokesMost)
}

// A result that is written past the caches has the bits of one that is not, and
// nothing beside it is touched.
func TestSpokesStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(26, 1))
	for rows := range 40 {
		checkStream(t, rng, rows)
	}
}

func checkStream(t *testing.T, rng *rand.Rand, rows int) {
	t.Helper()
	const cols = 9
	for _, kernel := range []struct {
		name string
		run  func(*Spokes) int
	}{{"Attend", (*Spokes).Attend}, {"Retrace", (*Spokes).Retrace}} {
		s := *spokesOf(rng, rows, cols, 12)()
		s.Heads, s.Width, s.AddY, s.YStride = 8, 8, 0, 64+8*rng.IntN(2)
		s.FarStride, s.RecStride, s.XStride, s.OwnStride, s.VStride, s.DerStride = 24, 16, 64, 16, 64, 8
		next := positive(rng)
		s.Far, s.X, s.Own, s.V = draw(cols*24, next), draw(cols*64, next), draw(rows*16, next), draw(rows*64, next)
		rec, der := draw(rows*16, next), draw(cols*8, next)
		what := fmt.Sprintf("%s of %d nodes", kernel.name, rows)
		var first *Spokes
		pastTrial(t, what, rows*s.YStride, func(y []Float, past bool) {
			clear(y) // between the rows
			k := s
			k.Y, k.Stream, k.Rec, k.Der = y, past, slices.Clone(rec), slices.Clone(der)
			kernel.run(&k)
			if goes := k.past == 1; rows > 0 && goes != (past && aligned(y, k.YStride, largest)) {
				t.Fatalf("%s: goes past the caches: %t, asked for: %t", what, goes, past)
			}
			if first == nil {
				first = &k
			}
			sameBits(t, what+", Rec", k.Rec, first.Rec)
			sameBits(t, what+", Der", k.Der, first.Der)
		})
	}
}

func FuzzSpokes(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most uint8) {
		checkSpokes(t, rand.New(rand.NewPCG(seed, 0)), int(rows%40), int(most))
	})
}

// checkPowers compares with plain Go, also what is tame, for eight heads and for
// one. One of so many elements is anything.
func checkPowers(t *testing.T, rng *rand.Rand, rows, every int) {
	t.Helper()
	next := func() Float {
		if rng.IntN(every) == 0 {
			return special[rng.IntN(len(special))]
		}
		return Float(rng.NormFloat64() * 6)
	}
	for _, c := range []struct {
		name   string
		run    func(*Powers, int, Float) bool
		xs, ys int
	}{{"Rows", (*Powers).Rows, 8 + rng.IntN(3), 16 + rng.IntN(3)}, {"Column", (*Powers).Column, 1, 4}} {
		what, slope := fmt.Sprintf("%s of %d powers", c.name, rows), Float(rng.Float64())
		var tamed []bool
		trial(t, what, 1e-6, [][]Float{draw(rows*c.xs, next), draw(rows*c.ys, plain(rng))}, func(x [][]Float) {
			p := Powers{X: x[0], Y: x[1], XStride: c.xs, YStride: c.ys}
			ok := c.run(&p, rows, slope)
			if !ok {
				clear(x[1])
			}
			tamed = append(tamed, ok)
		})
		if tamed[0] != tamed[1] {
			t.Fatalf("%s: tame is %v, in plain Go %v", what, tamed[0], tamed[1])
		}
	}
}

func TestAsmPowers(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 1))
	for rows := range 100 {
		checkPowers(t, rng, rows, 1<<20)
		checkPowers(t, rng, rows, 100)
	}
}

func FuzzPowers(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(7))
	f.Fuzz(func(t *testing.T, seed uint64, rows, every uint8) {
		checkPowers(t, rand.New(rand.NewPCG(seed, 0)), int(rows), 1+int(every))
	})
}

// An element that is not tame is seen wherever it stands.
func TestPowersTame(t *testing.T) {
	for _, slow := range []bool{false, true} {
		for _, v := range []float64{tame, -tame, tame + 0.01, -tame - 0.01, 1e30, math.Inf(1), math.Inf(-1), math.NaN()} {
			for at := range 24 {
				x := make([]Float, 24)
				x[at] = Float(v)
				p := Powers{X: x, Y: make([]Float, 48), XStride: 8, YStride: 16}
				undo := func() {}
				if slow {
					undo = Disable()
				}
				got := p.Rows(3, 0.5)
				column := Powers{X: x[:at+1], Y: make([]Float, 96)}
				gotColumn := column.Column(at+1, 0.5)
				undo()
				if want := math.Abs(v) <= tame; got != want || gotColumn != want {
					t.Errorf("%v at %d: tame is %v, of one head %v, want %v", v, at, got, gotColumn, want)
				}
			}
		}
	}
}
