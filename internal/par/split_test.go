package par

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name    string
		offsets []int64
		parts   int
		want    []int
	}{
		{"nothing", nil, 2, []int{0, 0, 0}},
		{"no rows", []int64{0}, 3, []int{0, 0, 0, 0}},
		{"no parts", []int64{0, 1, 2}, 0, []int{0, 2}},
		{"even", []int64{0, 2, 4, 6, 8}, 2, []int{0, 2, 4}},
		{"empty rows", []int64{5, 5, 5, 5, 5}, 4, []int{0, 1, 2, 3, 4}},
		{"hub first", []int64{0, 90, 91, 92, 93}, 2, []int{0, 1, 4}},
		{"hub last", []int64{0, 1, 2, 3, 93}, 2, []int{0, 3, 4}},
		{"more parts than rows", []int64{0, 1}, 3, []int{0, 0, 1, 1}},
		{"offsets not from 0", []int64{1 << 60, 1<<60 + 4, 1<<60 + 8}, 2, []int{0, 1, 2}},
		{"huge", []int64{0, math.MaxInt64 / 2, math.MaxInt64 - 4}, 2, []int{0, 1, 2}},
	} {
		if got := Split(tt.offsets, tt.parts, nil); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Bounds cover all rows in order, no range exceeds its share by more than its
// heaviest row, and the same arguments give the same bounds.
func TestSplitIsBalanced(t *testing.T) {
	const seed = 4
	rng := rand.New(rand.NewPCG(seed, 0))
	cuts := make([]int, 0, 100)
	for trial := range 500 {
		rows, parts := rng.IntN(200), 1+rng.IntN(80)
		offsets := make([]int64, rows+1)
		offsets[0] = rng.Int64N(100)
		for r := range rows {
			offsets[r+1] = offsets[r] + int64(math.Pow(rng.Float64(), -1)) - 1 // heavy tail
		}
		cuts = Split(offsets, parts, cuts)
		if len(cuts) != parts+1 || cuts[0] != 0 || cuts[parts] != rows || !slices.IsSorted(cuts) {
			t.Fatalf("seed %d, trial %d: bounds of %d rows in %d parts: %v", seed, trial, rows, parts, cuts)
		}
		share := before(offsets, rows)/int64(parts) + 1
		for i := range parts {
			lo, hi, heaviest := cuts[i], cuts[i+1], int64(0)
			for r := lo; r < hi; r++ {
				heaviest = max(heaviest, offsets[r+1]-offsets[r]+1)
			}
			if work := before(offsets, hi) - before(offsets, lo); work > share+heaviest {
				t.Fatalf("seed %d, trial %d: range %d has work %d, more than %d and a row of %d", seed, trial, i, work, share, heaviest)
			}
		}
		undo := SetThreads(1 + trial%8)
		if again := Split(offsets, parts, nil); !slices.Equal(again, cuts) {
			t.Fatalf("seed %d, trial %d: %v, then %v", seed, trial, cuts, again)
		}
		undo()
	}
}

func TestSplitAllocatesNothing(t *testing.T) {
	offsets, cuts := make([]int64, 1000), make([]int, 0, 65)
	if n := testing.AllocsPerRun(100, func() { cuts = Split(offsets, 64, cuts) }); n != 0 {
		t.Errorf("%g allocations a call", n)
	}
}

// A guess changes how long the search takes, and nothing else.
func TestFirstAt(t *testing.T) {
	const seed = 11
	rng := rand.New(rand.NewPCG(seed, 0))
	for trial := range 300 {
		offsets := []int64{rng.Int64N(9)}
		for range 1 + rng.IntN(90) {
			offsets = append(offsets, offsets[len(offsets)-1]+int64(math.Pow(rng.Float64(), -1))-1)
		}
		rows := len(offsets) - 1
		want := rng.Int64N(before(offsets, rows) + 1)
		lo := rng.IntN(rows + 1)
		first := lo
		for before(offsets, first) < want {
			first++
		}
		for guess := lo; guess <= rows; guess++ {
			if got := firstAt(offsets, want, lo, guess); got != first {
				t.Fatalf("seed %d, trial %d: guess %d from %d: got %d, want %d of %v", seed, trial, guess, lo, got, first, offsets)
			}
		}
	}
}
