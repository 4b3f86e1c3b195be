package sparse_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A product that is set is what one added to zeros is, to the bit, whatever was
// there: also with stored zeros, and in rows and columns without nonzeros.
func TestSetProduct(t *testing.T) {
	for seed, f := range sparing.Some([]int{0, 1, 7, 8, 16, 24, 32, 48, 64, 65}) {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		matrices := []*sparse.CSR{hub(rng), hubs(t, rng)}
		if !sparing.Full() {
			matrices = matrices[seed%2:][:1] // the next width has the other
		}
		for _, a := range matrices {
			values := normal(rng, a.NNZ()).Data
			for i := range values {
				if rng.IntN(3) == 0 {
					values[i] = 0
				}
			}
			for _, a := range []*sparse.CSR{a, a.WithValues(values), a.WithValues(nil)} {
				x, xt := normal(rng, a.NumCols, f), normal(rng, a.NumRows, f)
				want, wantT := tensor.New(a.NumRows, f), tensor.New(a.NumCols, f)
				sparse.Product{A: a, Add: true}.Into(want, x)
				sparse.Product{A: a, Transpose: true, Add: true}.Into(wantT, xt)
				turned, _ := a.Transpose()
				gathered := wantT.Like()
				sparse.Product{A: turned, Add: true}.Into(gathered, xt)
				compare.Equal(t, "product by rows", wantT.Data, gathered.Data)
				more, moreGathered := wantT.Like(), wantT.Like()
				more.Fill(3)
				moreGathered.Fill(3)
				sparse.Product{A: a, Transpose: true, Add: true}.Into(more, xt)
				sparse.Product{A: turned, Add: true}.Into(moreGathered, xt)
				compare.Equal(t, "product by rows that is added", more.Data, moreGathered.Data)
				mean, meanT := want.Like(), wantT.Like()
				sparse.Product{A: a, Mean: true, Add: true}.Into(mean, x)
				sparse.Product{A: a, Transpose: true, Mean: true, Add: true}.Into(meanT, xt)
				for _, threads := range append(sparing.Threads(), 1) {
					undo := par.SetThreads(threads)
					got, gotT := want.Like(), wantT.Like()
					got.Fill(float(math.NaN()))
					gotT.Fill(float(math.NaN()))
					sparse.Product{A: a}.Into(got, x)
					sparse.Product{A: a, Transpose: true}.Into(gotT, xt)
					compare.Equal(t, "product", got.Data, want.Data)
					got.Fill(float(math.NaN()))
					sparse.Product{A: a, Mean: true}.Into(got, x)
					compare.Equal(t, "mean", got.Data, mean.Data)
					compare.Equal(t, "product of the transpose", gotT.Data, wantT.Data)
					gotT.Fill(float(math.NaN()))
					sparse.Product{A: a, Transpose: true, Mean: true}.Into(gotT, xt)
					undo()
					compare.Equal(t, "gradient of a mean", gotT.Data, meanT.Data)
				}
			}
		}
	}
}

func TestSetProductSmall(t *testing.T) {
	a, err := sparse.New(2, 3, []int64{0, 1, 1}, []int32{2}, []float{4})
	if err != nil {
		t.Fatal(err)
	}
	got := tensor.Of([]float{9, 9, 9}, 3, 1) // not turned yet: by way of the rows
	sparse.Product{A: a, Transpose: true}.Into(got, tensor.Of([]float{2, 5}, 2, 1))
	compare.Equal(t, "product of the transpose", got.Data, tensor.Of([]float{0, 0, 8}, 3, 1).Data)
	got.Fill(9)
	sparse.Product{A: a, Transpose: true, Mean: true}.Into(got, tensor.Of([]float{2, 5}, 2, 1))
	compare.Equal(t, "gradient of a mean", got.Data, tensor.Of([]float{0, 0, 8}, 3, 1).Data)
}

// A matrix without columns has a transpose without rows.
func TestSetTransposedNothing(t *testing.T) {
	const rows, f = 9000, 64
	a, err := sparse.New(rows, 0, make([]int64, rows+1), []int32{}, []float{})
	if err != nil {
		t.Fatal(err)
	}
	a.Transpose()
	sparse.Product{A: a, Transpose: true}.Into(tensor.New(0, f), tensor.New(rows, f))
	sparse.Product{A: a, Transpose: true, Add: true}.Into(tensor.New(0, f), tensor.New(rows, f))
}
