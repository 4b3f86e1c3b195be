package spmm

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// spillShape is a number of rows of f columns, and some of these columns.
type spillShape struct {
	rows, f, left, width int
	long                 bool // a row has more nonzeros than a call takes
}

// testSpill compares the kernel with plain Go, which it equals to the bit, on
// rows of random lengths; of Y there are more columns than of X.
func testSpill(t *testing.T, rng *rand.Rand, s spillShape) {
	t.Helper()
	rows, f, left := s.rows, s.f, s.left
	wide := f + rng.IntN(3)
	columns := 1 + rng.IntN(9)
	offsets, cols := []int64{int64(rng.IntN(3))}, make([]int32, 2)
	for i := range rows {
		n := rng.IntN(9) * rng.IntN(2)
		if s.long && i == rows/2 {
			n = 5000
		}
		for range n {
			cols = append(cols, rng.Int32N(int32(columns)))
		}
		offsets = append(offsets, offsets[len(offsets)-1]+int64(n))
	}
	extremes := []Float{0, 1, Float(math.NaN()), Float(math.Inf(1)), Float(math.Inf(-1)), 1e30}
	normal := simdtest.Plain(rng)
	next := func() Float {
		if rng.IntN(20) == 0 {
			return extremes[rng.IntN(len(extremes))]
		}
		return normal()
	}
	x, okX := simdtest.Guarded(rows*f, rng.IntN(8), next)
	y, okY := simdtest.Guarded(columns*wide, rng.IntN(8), next)
	w, okW := simdtest.Guarded(len(cols), rng.IntN(8), next)
	was := append([]Float(nil), y...)
	spill := Spill{Y: y[left:], X: x[min(left, len(x)):], YStride: wide, XStride: f, Width: s.width, Cols: cols, W: w, Offsets: offsets, SkipZeros: rng.IntN(2) == 0}
	spill.Add()
	got := append([]Float(nil), y...)
	copy(y, was)
	undo := cpu.Disable()
	spill.Add()
	undo()
	for i, want := range y {
		if got[i] != want && (got[i] == got[i] || want == want) {
			t.Fatalf("%d rows of %d from %d: element %d is %v, in Go %v", rows, f, left, i, got[i], want)
		}
		if j := i % wide; (j < left || j >= left+s.width) && got[i] != was[i] && was[i] == was[i] {
			t.Fatalf("%d rows of %d from %d: element %d is of another column", rows, f, left, i)
		}
	}
	if !okX() || !okY() || !okW() {
		t.Fatal("the kernel wrote beside a slice")
	}
}

func TestSpill(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, rows := range simdtest.Lengths() {
		for _, width := range []int{8, 16, SpillWidth} {
			testSpill(t, rng, spillShape{rows, width, 0, width, rows%20 == 1})
			testSpill(t, rng, spillShape{rows, 2 * width, width, width, rows%20 == 8})
			testSpill(t, rng, spillShape{rows, 77, rng.IntN(77 - width + 1), width, rows%20 == 15})
		}
	}
}

// The plain loop is what the comment says.
func TestSpillByHand(t *testing.T) {
	x, y := make([]Float, 2*SpillWidth), make([]Float, 3*SpillWidth)
	x[0], x[SpillWidth+1] = 2, 3
	s := Spill{Y: y, X: x, YStride: SpillWidth, XStride: SpillWidth, Width: SpillWidth, Cols: []int32{2, 0, 2}, W: []Float{5, 7, 11}, Offsets: []int64{0, 1, 3}}
	s.Add()
	if y[2*SpillWidth] != 10 || y[1] != 21 || y[2*SpillWidth+1] != 33 {
		t.Errorf("got %v", y)
	}
}

func FuzzSpill(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(64), uint8(32))
	f.Add(uint64(2), uint8(9), uint8(16), uint8(8))
	f.Fuzz(func(t *testing.T, seed uint64, rows, columns, left uint8) {
		width := 8 << (seed % 3)
		c := max(int(columns), width)
		testSpill(t, rand.New(rand.NewPCG(seed, 0)), spillShape{int(rows), c, int(left) % (c - width + 1), width, seed%16 < 4})
	})
}
