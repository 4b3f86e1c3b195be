package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// set fills in a result, whatever it holds.
type set func(dst *tensor.Dense)

// sameOnThreads checks that a result which is set has the bits of what is added
// to zeros, on any number of threads.
func sameOnThreads(t *testing.T, name string, shape []int, set, add set) {
	t.Helper()
	want := tensor.New(shape...)
	add(want)
	got := want.Like()
	for _, n := range append(sparing.Threads(), 1, 2, 16, 33) {
		undo := par.SetThreads(n)
		got.Fill(float(math.NaN()))
		set(got)
		undo()
		compare.Equal(t, fmt.Sprintf("%s on %d threads", name, n), got.Data, want.Data)
	}
}

// Results of so many elements are stored past the caches: among them rows without
// nonzeros and a hub, whose row is done in pieces.
func TestLargeResults(t *testing.T) {
	const nodes, edges, hub, heads, dim = 2_100, 18_000, 2_000, 8, 8
	if testing.Short() || cpu.Path() == "go" {
		t.Skip("plain Go stores all results alike")
	}
	defer func(old int) { cpu.StreamFrom = old }(cpu.StreamFrom)
	cpu.StreamFrom = 1 << 17 // both rows and edges have more elements
	rng := rand.New(rand.NewPCG(9, 9))
	r, c := make([]int32, edges), make([]int32, edges)
	for k := range r {
		if r[k], c[k] = rng.Int32N(nodes), rng.Int32N(nodes); k < hub {
			r[k], c[k] = 7, c[k]%100
		}
	}
	a, _, err := sparse.FromCOO(nodes, nodes, r, c, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, v := normal(rng, nodes, heads, dim), normal(rng, nodes, heads, dim)
	w, dy := normal(rng, edges, heads), normal(rng, edges, heads)
	alpha := w.Like()
	sparse.Softmax{A: a}.Into(alpha, w)
	rows, each := x.Shape(), w.Shape()
	sameOnThreads(t, "SetProduct", rows, func(y *tensor.Dense) { sparse.Product{A: a}.Into(y, x) }, func(y *tensor.Dense) { sparse.Product{A: a, Add: true}.Into(y, x) })
	sameOnThreads(t, "SetMean", rows, func(y *tensor.Dense) { sparse.Product{A: a, Mean: true}.Into(y, x) }, func(y *tensor.Dense) { sparse.Product{A: a, Mean: true, Add: true}.Into(y, x) })
	sameOnThreads(t, "SetMeanTransposed", rows, func(y *tensor.Dense) { sparse.Product{A: a, Transpose: true, Mean: true}.Into(y, x) }, func(y *tensor.Dense) { sparse.Product{A: a, Transpose: true, Mean: true, Add: true}.Into(y, x) })
	sameOnThreads(t, "SetHeads", rows, func(y *tensor.Dense) { sparse.Product{A: a, Weights: w}.Into(y, x) }, func(y *tensor.Dense) { sparse.Product{A: a, Weights: w, Add: true}.Into(y, x) })
	sameOnThreads(t, "SetHeadsTransposed", rows, func(y *tensor.Dense) { sparse.Product{A: a, Weights: w, Transpose: true}.Into(y, x) }, func(y *tensor.Dense) { sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(y, x) })
	sameOnThreads(t, "SetDots", each, func(z *tensor.Dense) { sparse.Dots{A: a}.Into(z, x, v) }, func(z *tensor.Dense) { sparse.Dots{A: a, Add: true}.Into(z, x, v) })
	sameOnThreads(t, "Softmax", each, func(y *tensor.Dense) { sparse.Softmax{A: a}.Into(y, w) }, func(y *tensor.Dense) { copy(y.Data, alpha.Data) })
	sameOnThreads(t, "Softmax.Grad", each, func(dx *tensor.Dense) { sparse.Softmax{A: a}.Grad(dx, alpha, dy) }, func(dx *tensor.Dense) { sparse.Softmax{A: a, Add: true}.Grad(dx, alpha, dy) })

	number, plain := make([]int32, len(x.Data)), make([]int32, len(x.Data))
	sameOnThreads(t, "MaxDense", rows, func(y *tensor.Dense) { sparse.MaxDense(y, number, a, x) }, func(y *tensor.Dense) {
		defer cpu.Disable()()
		sparse.MaxDense(y, plain, a, x)
	})
	if !slices.Equal(number, plain) {
		t.Error("MaxDense of a large result: the largest are from other nonzeros than in plain Go")
	}
}
