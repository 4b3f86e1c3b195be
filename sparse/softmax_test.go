package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestSoftmax(t *testing.T) {
	for _, heads := range []int{1, 3, 8} {
		rng := rand.New(rand.NewPCG(uint64(heads), 7))
		a := random(rng, 15, 11, 60, false)
		x := normal(rng, a.NNZ(), heads)
		want := make([]float64, len(x.Data))
		for i := range a.NumRows {
			for h := range heads {
				sum := 0.0
				for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
					sum += math.Exp(float64(x.Row(int(k))[h]))
				}
				for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
					want[int(k)*heads+h] = math.Exp(float64(x.Row(int(k))[h])) / sum
				}
			}
		}
		y := normal(rng, a.NNZ(), heads) // overwritten
		sparse.Softmax{A: a}.Into(y, x)
		compare.Near(t, "Softmax", y.Data, want, rounded)
		sum := x.Clone()
		sparse.Softmax{A: a, Add: true}.Into(sum, x)
		for i, v := range x.Data {
			want[i] += float64(v)
		}
		compare.Near(t, "Softmax added", sum.Data, want, rounded)
		sparse.Softmax{A: a}.Into(x, x)
		compare.Equal(t, "in place", x.Data, y.Data)
	}
}

func TestSoftmaxExtremes(t *testing.T) {
	inf, nan := float(math.Inf(1)), float(math.NaN())
	for _, test := range []struct{ x, want []float }{
		{[]float{1e4, 0, -1e4}, []float{1, 0, 0}},
		{[]float{-1e4, -1e4, -2e4}, []float{0.5, 0.5, 0}},
		{[]float{1e4, 1e4}, []float{0.5, 0.5}},
		{[]float{-inf, 3, -inf}, []float{0, 1, 0}},
		{[]float{-inf, -inf}, []float{0, 0}},
		{[]float{-inf}, []float{0}},
		{[]float{inf, 3, inf, -inf}, []float{0.5, 0, 0.5, 0}},
		{[]float{1, nan, 2}, []float{nan, nan, nan}},
		{[]float{nan, inf}, []float{nan, nan}},
		{[]float{inf, nan}, []float{nan, nan}},
		{[]float{nan, -inf}, []float{nan, nan}},
	} {
		// The row under test stands in column 1, with a harmless row before it
		// and a harmless column beside it.
		n := len(test.x)
		r, c := []int32{0, 0}, []int32{0, 0}
		x := tensor.New(n+2, 2)
		for k, v := range test.x {
			r, c = append(r, 1), append(c, 0)
			x.Row(k + 2)[1] = v
		}
		a, _, err := sparse.FromCOO(2, 1, r, c, nil)
		if err != nil {
			t.Fatal(err)
		}
		sparse.Softmax{A: a}.Into(x, x)
		for k, want := range test.want {
			what := fmt.Sprintf("softmax of %v: element %d", test.x, k)
			compare.Number(t, what, x.Row(k + 2)[1], want, compare.Exactly.OrNaN())
			compare.Number(t, what+": what stands beside it", x.Row(k + 2)[0], 1/float64(n), compare.Off(1e-6, 0))
		}
		if !slices.Equal(x.Data[:4], []float{0.5, 0.5, 0.5, 0.5}) {
			t.Errorf("softmax of %v: before it stands %v", test.x, x.Data[:4])
		}
	}
}

func TestSoftmaxGrad(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	a := random(rng, 7, 6, 14, false)
	x, dy := normal(rng, a.NNZ(), 3), normal(rng, a.NNZ(), 3)
	y := x.Like()
	f := func() float64 {
		sparse.Softmax{A: a}.Into(y, x)
		return inner(y, dy)
	}
	f()
	start := normal(rng, a.NNZ(), 3)
	dx := start.Clone()
	sparse.Softmax{A: a, Add: true}.Grad(dx, y, dy)
	for i, v := range start.Data {
		dx.Data[i] -= v // the gradient was added
	}
	compare.Gradient(t, "Softmax.Grad", x.Data, dx.Data, f)
}
