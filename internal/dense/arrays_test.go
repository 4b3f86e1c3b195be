package dense_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
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

// rounded is as precise as float32 can be where one element is large.
var rounded = compare.Off(2e-5, 2e-5).OrNaN()

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
		compare.Near(t, fmt.Sprintf("%s on %d threads", what, threads), got, first, same)
	}
	return first
}

// same is for numbers that are equal, or both NaN.
var same = compare.Exactly.OrNaN()
