package spmm

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// offsets returns where n ranges of up to six rows begin, from any number on.
func offsets(rng *rand.Rand, n int) []int64 {
	off := []int64{rng.Int64N(9)}
	for i := range n {
		off = append(off, off[i]+rng.Int64N(7))
	}
	return off
}

func checkRanges(t *testing.T, rng *rand.Rand, n, w int) {
	t.Helper()
	off := offsets(rng, n)
	size := int(off[n]-off[0]) * w
	simdtest.Trial(t, fmt.Sprintf("SumSegments of %d by", n), 0, [][]Float{simdtest.Draw(n*w, simdtest.Some(rng)), simdtest.Draw(size, simdtest.Some(rng))}, func(s [][]Float) {
		Rows(w).SumRanges(s[0], s[1], off)
	})
	apart := w + rng.IntN(3)
	stat := func() []Float { return simdtest.Draw(n*apart, simdtest.Plain(rng)) }
	top, sum := stat(), stat()
	simdtest.Trial(t, fmt.Sprintf("Softmax of %d by", n), 1e-6, [][]Float{simdtest.Draw(size, simdtest.Plain(rng)), simdtest.Draw(size, simdtest.Some(rng)), top, sum}, func(s [][]Float) {
		seg := Ranges{Off: off, W: w, Top: s[2], Sum: s[3], Apart: apart}
		seg.Softmax(s[0], s[1])
		seg.Weights(s[0], s[1])
		seg.Softmax(s[1], s[1])
	})
	// Numbers of one sign and y of few bits, so that sums are exact but for the last.
	y, dy := simdtest.Draw(size, simdtest.NearOne(rng)), simdtest.Draw(size, simdtest.NearOne(rng))
	for i := range y {
		y[i], dy[i] = Float(math.Round(float64(y[i]*8)))/8, Float(math.Round(float64(dy[i]*8)))/8
	}
	simdtest.Trial(t, fmt.Sprintf("SpreadRanges of %d by", n), 0, [][]Float{simdtest.Draw(size, simdtest.Some(rng)), simdtest.Draw(n*w, simdtest.Some(rng))}, func(s [][]Float) {
		Rows(w).SpreadRanges(s[0], s[1], off)
	})
	simdtest.Trial(t, fmt.Sprintf("DivideRanges of %d by", n), 0, [][]Float{simdtest.Draw(n*w, simdtest.Some(rng)), simdtest.Draw(n*w, simdtest.Some(rng))}, func(s [][]Float) {
		Rows(w).DivideRanges(s[0], s[1], off)
		Rows(w).DivideRanges(s[1], s[1], off)
	})
	few, long := simdtest.Draw(n*w, simdtest.NearOne(rng)), append([]Float(nil), y...)
	for i := range few {
		few[i] = Float(math.Round(float64(few[i]*8))) / 8
	}
	for i := range long {
		switch rng.IntN(50) {
		case 0:
			long[i] = Float(math.NaN())
		case 1:
			long[i] = Float(math.Inf(1 - 2*rng.IntN(2)))
		}
	}
	simdtest.Trial(t, fmt.Sprintf("DotRanges of %d by", n), 1e-6, [][]Float{simdtest.Draw(w, simdtest.Plain(rng)), few, long}, func(s [][]Float) {
		Rows(w).DotRanges(s[0], s[1], s[2], off)
	})
	simdtest.Trial(t, fmt.Sprintf("Grad of %d by", n), 1e-6, [][]Float{simdtest.Draw(size, simdtest.Plain(rng)), y, dy}, func(s [][]Float) {
		(&Ranges{Off: off, W: w}).Grad(s[0], s[1], s[2])
	})
}

func TestRanges(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 1))
	for _, w := range simdtest.Lengths() {
		for _, n := range []int{0, 1, 2, 5} {
			checkRanges(t, rng, n, w)
		}
	}
	for _, n := range simdtest.Lengths() {
		checkRanges(t, rng, n, 8)
		checkRanges(t, rng, n, 3)
	}
	checkRanges(t, rng, 9000, 3)
}

func FuzzRanges(f *testing.F) {
	f.Add(uint64(1), uint16(3), uint16(8))
	f.Add(uint64(2), uint16(100), uint16(33))
	f.Fuzz(func(t *testing.T, seed uint64, n, w uint16) {
		checkRanges(t, rand.New(rand.NewPCG(seed, 3)), int(n%300), int(w%100))
	})
}

// A −0 becomes 0, as it does where a mean is added to zeros.
func TestDivideRangesZero(t *testing.T) {
	for w := 1; w < 20; w++ {
		for _, plain := range []bool{false, true} {
			y := simdtest.Draw(2*w, func() Float { return Float(math.Copysign(0, -1)) })
			undo := func() {}
			if plain {
				undo = cpu.Disable()
			}
			Rows(w).DivideRanges(y, y, []int64{4, 4, 7})
			undo()
			for i, v := range y {
				if v != 0 || math.Signbit(float64(v)) {
					t.Fatalf("element %d of rows of %d is %v, in plain Go: %t", i, w, v, plain)
				}
			}
		}
	}
}
