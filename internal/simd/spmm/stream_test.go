package spmm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

func checkStream(t *testing.T, rng *rand.Rand, f, heads int) {
	t.Helper()
	tr := newRowTrial(rng, 6, 20, f, max(heads, 1), simdtest.Plain(rng))
	what := fmt.Sprintf("of %d in %d heads", f, heads)
	for _, mean := range []bool{false, true} {
		simdtest.StreamTrial(t, "RowSum "+what, tr.rows*f, func(y []Float, stream bool) {
			p := RowSum{Gather: tr.Gather, Y: y, W: tr.w, Heads: heads, Set: true, Mean: mean}
			p.Stream = stream
			p.AddRows(0, tr.rows)
		})
	}
	if heads > 0 {
		simdtest.StreamTrial(t, "EdgeDot "+what, len(tr.Cols)*heads, func(z []Float, stream bool) {
			p := EdgeDot{Gather: tr.Gather, Y: tr.y, Z: z, Heads: heads, Set: true}
			p.Stream = stream
			p.AddRows(0, tr.rows)
		})
		return
	}
	number := make([]int32, tr.rows*f)
	simdtest.StreamTrial(t, "RowBest "+what, tr.rows*f, func(y []Float, stream bool) {
		p := RowBest{Gather: tr.Gather, Y: y, Arg: make([]int32, len(y))}
		p.Stream = stream
		p.SetRows(0, tr.rows)
		if !stream {
			copy(number, p.Arg)
		}
		for i, k := range p.Arg {
			if k != number[i] {
				t.Fatalf("RowBest %s: element %d is from %d, want %d", what, i, k, number[i])
			}
		}
	})
}

// Rows of whole lines are set past the caches, and others where they are wanted.
func TestStream(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 7))
	for f := 1; f < 150; f++ {
		checkStream(t, rng, f, 0)
	}
	for _, hd := range [][2]int{{1, 64}, {1, 128}, {8, 8}, {8, 16}, {8, 32}, {4, 8}, {12, 8}, {3, 5}, {8, 5}, {64, 1}} {
		checkStream(t, rng, hd[0]*hd[1], hd[0])
	}
}

func checkStreamSegments(t *testing.T, rng *rand.Rand, rows, most, n int) {
	t.Helper()
	o, c := simdtest.Edges(rng, rows, 1, most)
	end := int(o[rows]) * n
	x, y := simdtest.Draw(len(c)*n, simdtest.Plain(rng)), simdtest.Draw(len(c)*n, simdtest.Plain(rng))
	from := int(o[0]) * n
	segments := func(to []Float) Segments {
		return Segments{Offsets: o, X: x, Work: make([]Float, SegmentWork(n)), N: n, Y: to}
	}
	what := fmt.Sprintf("softmax of %d segments of %d columns", rows, n)
	simdtest.StreamTrial(t, what, end, func(to []Float, stream bool) {
		clear(to[:from])
		s := segments(to)
		if stream {
			s.StreamResult()
		}
		s.Softmax()
	})
	simdtest.StreamTrial(t, what+", gradient", end, func(to []Float, stream bool) {
		clear(to[:from])
		s := segments(y)
		s.D, s.Set = to, 1
		if stream {
			s.StreamResult()
		}
		s.SoftmaxGrad()
	})
}

func TestStreamSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for most := range 40 {
		checkStreamSegments(t, rng, most, most, 8)
		checkStreamSegments(t, rng, most, most, 3)
	}
	checkStreamSegments(t, rng, 3, 600, 8) // some of them longer than what may wait
}

func FuzzStream(f *testing.F) {
	f.Add(uint64(1), uint8(8), uint8(8))
	f.Add(uint64(2), uint8(0), uint8(64))
	f.Fuzz(func(t *testing.T, seed uint64, heads, d uint8) {
		rng := rand.New(rand.NewPCG(seed, 0))
		h := int(heads % 16)
		checkStream(t, rng, max(h, 1)*int(1+d%70), h)
		checkStreamSegments(t, rng, int(d%20), int(heads), 8)
	})
}
