package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// What sets a product leaves the bits of what adds it to zeros, whatever was
// there, on any number of threads: of a hub, of rows without nonzeros, of no
// nonzeros at all, and of stored zeros.
func TestSetHeads(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	hub := hubs(t, rng)
	values := normal(rng, hub.NNZ()).Data
	for i := range values {
		if i%3 == 0 {
			values[i] = 0
		}
	}
	none, err := sparse.New(3, 2, []int64{0, 0, 0, 0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*sparse.CSR{"hub": hub, "values": hub.WithValues(values), "none": none, "few": random(rng, 50, 40, 90, true)} {
		for _, f := range []int{1, 7, 64, 100, 128, 300} {
			if name == "values" && f%64 != 0 && !sparing.Full() {
				continue // the hub has these
			}
			x, w := normal(rng, a.NumCols, f), normal(rng, a.NNZ(), 1+f%2)
			wantDense, wantHeads := tensor.New(a.NumRows, f), tensor.New(a.NumRows, f)
			sparse.Product{A: a, Add: true}.Into(wantDense, x)
			heads := f%w.RowLen() == 0
			if heads {
				sparse.Product{A: a, Weights: w, Add: true}.Into(wantHeads, x)
			}
			for _, n := range append(sparing.Threads(), 1) {
				undo := par.SetThreads(n)
				y := tensor.New(a.NumRows, f)
				y.Fill(float(math.NaN()))
				sparse.Product{A: a}.Into(y, x)
				compare.Equal(t, fmt.Sprintf("%s: SetProduct of %d on %d threads", name, f, n), y.Data, wantDense.Data)
				if heads {
					y.Fill(float(math.NaN()))
					sparse.Product{A: a, Weights: w}.Into(y, x)
					compare.Equal(t, fmt.Sprintf("%s: SetHeads of %d on %d threads", name, f, n), y.Data, wantHeads.Data)
				}
				undo()
			}
			if heads {
				checkSetEdges(t, fmt.Sprintf("%s of %d", name, f), a, w, x)
			}
			y := tensor.New(a.NumRows, f)
			y.Fill(float(math.NaN()))
			undo := cpu.Disable()
			sparse.Product{A: a}.Into(y, x)
			undo()
			compare.Near(t, name+" in plain Go", y.Data, wantDense.Data, rounded)
		}
	}
}

// checkSetEdges checks what is set on edges, and the transposed product.
func checkSetEdges(t *testing.T, name string, a *sparse.CSR, w, x *tensor.Dense) {
	t.Helper()
	y := normal(rand.New(rand.NewPCG(7, 6)), a.NumRows, x.RowLen())
	sameOnThreads(t, name+": SetHeadsTransposed", x.Shape(), func(z *tensor.Dense) { sparse.Product{A: a, Weights: w, Transpose: true}.Into(z, y) }, func(z *tensor.Dense) { sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(z, y) })
	sameOnThreads(t, name+": SetDots", w.Shape(), func(z *tensor.Dense) { sparse.Dots{A: a}.Into(z, x, y) }, func(z *tensor.Dense) { sparse.Dots{A: a, Add: true}.Into(z, x, y) })
	sameOnThreads(t, name+": Softmax.Grad", w.Shape(), func(z *tensor.Dense) { sparse.Softmax{A: a}.Grad(z, w, w) }, func(z *tensor.Dense) { sparse.Softmax{A: a, Add: true}.Grad(z, w, w) })
}
