package sparse_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A product that is set is what one added to zeros is, to the bit, whatever was
// there: also with stored zeros, and in rows and columns without nonzeros.
func TestSetMulDense(t *testing.T) {
	for seed, f := range sparing([]int{0, 1, 7, 8, 16, 24, 32, 48, 64, 65}) {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		for _, a := range []*sparse.CSR{hub(rng), hubs(t, rng)} {
			values := normal(rng, a.NNZ()).Data
			for i := range values {
				if rng.IntN(3) == 0 {
					values[i] = 0
				}
			}
			for _, a := range []*sparse.CSR{a, a.WithValues(values), a.WithValues(nil)} {
				x, xt := normal(rng, a.NumCols, f), normal(rng, a.NumRows, f)
				want, wantT := tensor.New(a.NumRows, f), tensor.New(a.NumCols, f)
				sparse.MulDense(want, a, x)
				sparse.MulDenseT(wantT, a, xt)
				turned, _ := a.Transpose()
				gathered := wantT.Like()
				sparse.MulDense(gathered, turned, xt)
				sameBits(t, "product by rows", wantT, gathered)
				more, moreGathered := wantT.Like(), wantT.Like()
				more.Fill(3)
				moreGathered.Fill(3)
				sparse.MulDenseT(more, a, xt)
				sparse.MulDense(moreGathered, turned, xt)
				sameBits(t, "product by rows that is added", more, moreGathered)
				mean, meanT := want.Like(), wantT.Like()
				sparse.MeanDense(mean, a, x)
				sparse.MeanDenseT(meanT, a, xt)
				for _, threads := range []int{1, 2, 3, 8} {
					undo := par.SetThreads(threads)
					got, gotT := want.Like(), wantT.Like()
					got.Fill(float(math.NaN()))
					gotT.Fill(float(math.NaN()))
					sparse.SetMulDense(got, a, x)
					sparse.SetMulDenseT(gotT, a, xt)
					sameBits(t, "product", got, want)
					got.Fill(float(math.NaN()))
					sparse.SetMeanDense(got, a, x)
					sameBits(t, "mean", got, mean)
					sameBits(t, "product of the transpose", gotT, wantT)
					gotT.Fill(float(math.NaN()))
					sparse.SetMeanDenseT(gotT, a, xt)
					undo()
					sameBits(t, "gradient of a mean", gotT, meanT)
				}
			}
		}
	}
}

func TestSetMulDenseSmall(t *testing.T) {
	a, err := sparse.New(2, 3, []int64{0, 1, 1}, []int32{2}, []float{4})
	if err != nil {
		t.Fatal(err)
	}
	got := tensor.Of([]float{9, 9, 9}, 3, 1) // not turned yet: by way of the rows
	sparse.SetMulDenseT(got, a, tensor.Of([]float{2, 5}, 2, 1))
	sameBits(t, "product of the transpose", got, tensor.Of([]float{0, 0, 8}, 3, 1))
	got.Fill(9)
	sparse.SetMeanDenseT(got, a, tensor.Of([]float{2, 5}, 2, 1))
	sameBits(t, "gradient of a mean", got, tensor.Of([]float{0, 0, 8}, 3, 1))
	for op, call := range map[string]func(){
		"sparse.SetMulDense":   func() { sparse.SetMulDense(tensor.New(2, 2), a, tensor.New(3, 1)) },
		"sparse.SetMeanDense":  func() { sparse.SetMeanDense(tensor.New(2, 2), a, tensor.New(3, 1)) },
		"sparse.SetMulDenseT":  func() { sparse.SetMulDenseT(tensor.New(2, 2), a, tensor.New(2, 2)) },
		"sparse.SetMeanDenseT": func() { sparse.SetMeanDenseT(tensor.New(2, 2), a, tensor.New(2, 2)) },
	} {
		if err, ok := tensor.Try(call).(*tensor.ShapeError); !ok || err.Op != op {
			t.Errorf("%v, want a ShapeError of %s", err, op)
		}
	}
}

// A matrix without columns has a transpose without rows.
func TestSetMulDenseTNothing(t *testing.T) {
	const rows, f = 9000, 64
	a, err := sparse.New(rows, 0, make([]int64, rows+1), []int32{}, []float{})
	if err != nil {
		t.Fatal(err)
	}
	a.Transpose()
	sparse.SetMulDenseT(tensor.New(0, f), a, tensor.New(rows, f))
	sparse.MulDenseT(tensor.New(0, f), a, tensor.New(rows, f))
}
