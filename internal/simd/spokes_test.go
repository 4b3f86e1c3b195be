package simd

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// spokesOf returns nodes with edges to columns, and random strides.
func spokesOf(rng *rand.Rand, rows, cols, most int) func() *Spokes {
	o, c := edgesOf(rng, rows, cols, most)
	perm := make([]int32, len(c))
	for i := range perm {
		perm[i] = rng.Int32()
	}
	k := Spokes{
		Offsets: o, Cols: c, Perm: perm, Last: len(c) - 1, Ahead: rng.IntN(2) * 3,
		FarStride: Record*8 + rng.IntN(3), NearStride: 8 + rng.IntN(3), XStride: 64 + rng.IntN(3), YStride: 64 + rng.IntN(3),
		VStride: 64 + rng.IntN(3), RecStride: Record*8 + rng.IntN(3), DerStride: 8 + rng.IntN(3),
		AddY: rng.IntN(2), AddRec: rng.IntN(2),
	}
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

// checkSpokes compares both kernels with plain Go. Of every so many logits one is
// not tame.
func checkSpokes(t *testing.T, rng *rand.Rand, rows, most, every int) {
	t.Helper()
	const cols = 9
	k := spokesOf(rng, rows, cols, most)
	logit := func() Float {
		if every > 0 && rng.IntN(every) == 0 {
			return special[rng.IntN(len(special))]
		}
		return Float(rng.NormFloat64() * 4)
	}
	pos := func() Float { return Float(math.Abs(rng.NormFloat64())) + 0.01 }
	s := k()
	node := func(stride int) int { return rows * stride }
	var done [2][]int
	what := fmt.Sprintf("%d nodes of up to %d edges", rows, most)
	trial(t, "Attend, "+what, 2e-5, [][]Float{
		draw(cols*s.FarStride, logit), draw(node(s.NearStride), logit), draw(cols*s.XStride, pos),
		draw(node(s.YStride), pos), draw(node(s.RecStride), pos),
	}, func(x [][]Float) {
		s := k()
		s.Far, s.Near, s.X, s.Y, s.Rec = x[0], x[1], x[2], x[3], x[4]
		done[0] = append(done[0], s.Attend())
	})
	if done[0][0] != done[0][1] {
		t.Fatalf("Attend, %s: did %d nodes, in plain Go %d", what, done[0][0], done[0][1])
	}
	rec := draw(cols*s.FarStride, pos)
	for u := range cols {
		for h := range 8 {
			rec[u*s.FarStride+h] = Float(rng.NormFloat64())
			rec[u*s.FarStride+24+h] = -pos() // so that dz has one sign
		}
	}
	trial(t, "Retrace, "+what, 2e-5, [][]Float{
		rec, draw(node(s.NearStride), plain(rng)), draw(cols*s.XStride, pos), draw(node(s.YStride), pos),
		draw(node(s.VStride), pos), draw(node(s.RecStride), pos), draw(cols*s.DerStride, pos),
	}, func(x [][]Float) {
		s := k()
		s.Far, s.Near, s.X, s.Y, s.V, s.Rec, s.Der = x[0], x[1], x[2], x[3], x[4], x[5], x[6]
		done[1] = append(done[1], s.Retrace())
	})
	if done[1][0] != done[1][1] {
		t.Fatalf("Retrace, %s: did %d nodes, in plain Go %d", what, done[1][0], done[1][1])
	}
}

func TestAsmSpokes(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	for rows := range 40 {
		for _, most := range []int{0, 1, 5, 20} {
			checkSpokes(t, rng, rows, most, 0)
			checkSpokes(t, rng, rows, most, 1000)
		}
	}
	for most := range 200 {
		checkSpokes(t, rng, 2, most, 0)
	}
	checkSpokes(t, rng, 5, SpokesMost, 0)
	checkSpokes(t, rng, 1, 2*SpokesMost, 0)
}

func FuzzSpokes(f *testing.F) {
	f.Add(uint64(1), uint8(9), uint8(7), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, rows, most, every uint8) {
		checkSpokes(t, rand.New(rand.NewPCG(seed, 0)), int(rows%40), int(most), int(every))
	})
}

// A logit that is not tame stops Attend before its row, which nothing has touched.
func TestSpokesWild(t *testing.T) {
	inf := math.Inf(1)
	for _, slow := range []bool{false, true} {
		for _, z := range []float64{tame, -tame, tame + 1, -tame - 1, 1e30, inf, -inf, math.NaN()} {
			want := 3
			if !(math.Abs(z) <= tame) {
				want = 1
			}
			for h := range 8 {
				k := Spokes{
					Offsets: []int64{0, 1, 3, 4}, Cols: []int32{0, 0, 1, 0}, FarStride: 8, NearStride: 8, XStride: 64, YStride: 64, RecStride: 32,
					Far: make([]Float, 16), Near: make([]Float, 24), X: make([]Float, 128), Y: make([]Float, 192), Rec: make([]Float, 96), Last: 3,
				}
				k.Prepare(1, nil, 0)
				k.Far[8+h] = Float(z)
				k.Y[64], k.Rec[32] = 5, 6
				undo := func() {}
				if slow {
					undo = Disable()
				}
				got := k.Attend()
				undo()
				if got != want {
					t.Errorf("a logit of %v: did %d nodes, want %d", z, got, want)
				}
				if want == 1 && (k.Y[64] != 5 || k.Rec[32] != 6) {
					t.Errorf("a logit of %v: touched the row", z)
				}
			}
		}
	}
}
