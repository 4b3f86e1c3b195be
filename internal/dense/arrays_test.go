package dense_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// random returns n normal numbers.
func random(rng *rand.Rand, n int) []tensor.Float {
	x := make([]tensor.Float, n)
	sparing.Normals(rng, x)
	return x
}

// small makes numbers so small that sums of thousands are of order one.
func small(x []tensor.Float) {
	for i := range x {
		x[i] /= 64
	}
}

// copied returns copies of arrays, of which some may be nil.
func copied(xs ...[]tensor.Float) [][]tensor.Float {
	out := make([][]tensor.Float, len(xs))
	for i, x := range xs {
		out[i] = slices.Clone(x)
	}
	return out
}

// near compares numbers with others, as precisely as float32 can where one element is
// large.
func near(t *testing.T, what string, got, want []tensor.Float) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		w := want[i]
		if v == w || v != v && w != w {
			continue
		}
		if d := math.Abs(float64(v - w)); !(d <= 2e-5*(1+math.Abs(float64(w)))) {
			t.Errorf("%s: number %d is %v, want %v", what, i, v, w)
			return
		}
	}
}

// threaded calls f on several numbers of threads, and returns what it gives, which must
// have the same bits on all.
func threaded(t *testing.T, what string, f func() []tensor.Float) (first []tensor.Float) {
	t.Helper()
	for _, threads := range []int{1, 3} {
		undo := par.SetThreads(threads)
		got := f()
		undo()
		if first == nil {
			first = got
		}
		if !slices.EqualFunc(got, first, sameBits) {
			t.Errorf("%s: other bits on %d threads", what, threads)
		}
	}
	return first
}

func sameBits(a, b tensor.Float) bool { return a == b || a != a && b != b }
