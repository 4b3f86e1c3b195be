package sparse_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Rows that are added with a product are those that are added after it, or before a product
// with the transpose, to the bit: of few elements, which are scattered, and of many.
func TestOwnRows(t *testing.T) {
	for seed, f := range []int{1, 7, 32, 65} {
		rng := rand.New(rand.NewPCG(uint64(seed), 31))
		for _, a := range []*sparse.CSR{hub(rng).WithValues(nil), hubs(t, rng).WithValues(nil)} {
			x, xt := normal(rng, a.NumCols, f), normal(rng, a.NumRows, f)
			own, ownT := normal(rng, a.NumRows, f), normal(rng, a.NumCols, f)
			ownT.Data[0] = float(math.Copysign(0, -1))
			old, oldT := normal(rng, a.NumRows, f), normal(rng, a.NumCols, f)
			want, wantT, added, addedT := own.Like(), ownT.Like(), old.Clone(), oldT.Clone()
			sparse.Product{A: a}.Into(want, x)
			tensor.Add(want, own, want)
			tensor.Add(wantT, wantT, ownT) // zeros and own
			sparse.Product{A: a, Transpose: true, Add: true}.Into(wantT, xt)
			sparse.Product{A: a, Add: true}.Into(added, x)
			tensor.Add(added, own, added)
			tensor.Add(addedT, addedT, ownT)
			sparse.Product{A: a, Transpose: true, Add: true}.Into(addedT, xt)
			for _, threads := range []int{1, 3} {
				undo := par.SetThreads(threads)
				got, gotT, more, moreT := own.Like(), ownT.Like(), old.Clone(), oldT.Clone()
				got.Fill(float(math.NaN()))
				gotT.Fill(float(math.NaN()))
				sparse.Product{A: a, Own: own}.Into(got, x)
				sparse.Product{A: a, Transpose: true, Own: ownT}.Into(gotT, xt)
				sparse.Product{A: a, Add: true, Own: own}.Into(more, x)
				sparse.Product{A: a, Transpose: true, Add: true, Own: ownT}.Into(moreT, xt)
				undo()
				compare.Equal(t, "product", got.Data, want.Data)
				compare.Equal(t, "product of the transpose", gotT.Data, wantT.Data)
				compare.Equal(t, "product that is added", more.Data, added.Data)
				compare.Equal(t, "product of the transpose that is added", moreT.Data, addedT.Data)
			}
		}
	}
	a := hub(rand.New(rand.NewPCG(1, 31)))
	x, y := tensor.New(a.NumCols, 2), tensor.New(a.NumRows, 2)
	for what, p := range map[string]sparse.Product{
		"values":       {A: a, Own: y},
		"a mean":       {A: a.WithValues(nil), Mean: true, Own: y},
		"other shapes": {A: a.WithValues(nil), Own: tensor.New(a.NumRows, 3)},
	} {
		if err := tensor.Try(func() { p.Into(y, x) }); !errors.As(err, new(*tensor.ShapeError)) {
			t.Errorf("rows beside a product with %s: %v", what, err)
		}
	}
}
