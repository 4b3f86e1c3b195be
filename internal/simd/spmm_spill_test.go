package simd

import (
	"math"
	"math/rand/v2"
	"testing"
)

// testSpill compares the kernel with plain Go, which it equals to the bit, on
// rows of random lengths, in the columns from left on of rows of f.
func testSpill(t *testing.T, rng *rand.Rand, rows, f, left int) {
	t.Helper()
	columns := 1 + rng.IntN(9)
	offsets, cols := []int64{int64(rng.IntN(3))}, make([]int32, 2)
	for range rows {
		n := rng.IntN(9) * rng.IntN(2)
		if rng.IntN(50) == 0 {
			n = 5000 // more than a call has
		}
		for range n {
			cols = append(cols, rng.Int32N(int32(columns)))
		}
		offsets = append(offsets, offsets[len(offsets)-1]+int64(n))
	}
	extremes := []Float{0, 1, Float(math.NaN()), Float(math.Inf(1)), Float(math.Inf(-1)), 1e30}
	next := func() Float {
		if rng.IntN(20) == 0 {
			return extremes[rng.IntN(len(extremes))]
		}
		return Float(rng.NormFloat64())
	}
	x, okX := guarded(rows*f, rng.IntN(8), next)
	y, okY := guarded(columns*f, rng.IntN(8), next)
	w, okW := guarded(len(cols), rng.IntN(8), next)
	was := append([]Float(nil), y...)
	Spill(y[left:], x[min(left, len(x)):], cols, w, offsets, f)
	got := append([]Float(nil), y...)
	copy(y, was)
	undo := Disable()
	Spill(y[left:], x[min(left, len(x)):], cols, w, offsets, f)
	undo()
	for i, want := range y {
		if got[i] != want && (got[i] == got[i] || want == want) {
			t.Fatalf("%d rows of %d from %d: element %d is %v, in Go %v", rows, f, left, i, got[i], want)
		}
		if j := i % f; (j < left || j >= left+SpillWidth) && got[i] != was[i] && was[i] == was[i] {
			t.Fatalf("%d rows of %d from %d: element %d is of another column", rows, f, left, i)
		}
	}
	if !okX() || !okY() || !okW() {
		t.Fatal("the kernel wrote beside a slice")
	}
}

func TestSpill(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for rows := range 200 {
		testSpill(t, rng, rows, SpillWidth, 0)
		testSpill(t, rng, rows, 2*SpillWidth, SpillWidth)
		testSpill(t, rng, rows, 77, rng.IntN(77-SpillWidth+1))
	}
}

// The plain loop is what the comment says.
func TestSpillByHand(t *testing.T) {
	x, y := make([]Float, 2*SpillWidth), make([]Float, 3*SpillWidth)
	x[0], x[SpillWidth+1] = 2, 3
	Spill(y, x, []int32{2, 0, 2}, []Float{5, 7, 11}, []int64{0, 1, 3}, SpillWidth)
	if y[2*SpillWidth] != 10 || y[1] != 21 || y[2*SpillWidth+1] != 33 {
		t.Errorf("got %v", y)
	}
}

func FuzzSpill(f *testing.F) {
	f.Add(uint64(1), uint8(3), uint8(64), uint8(32))
	f.Fuzz(func(t *testing.T, seed uint64, rows, width, left uint8) {
		w := max(int(width), SpillWidth)
		testSpill(t, rand.New(rand.NewPCG(seed, 0)), int(rows), w, int(left)%(w-SpillWidth+1))
	})
}
