package fused_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

type float = tensor.Float

// rounded is for what differs by rounding, relative to the largest element.
var rounded = compare.PartOfLargest(compare.In(1e-5, 1e-12))

func inner(x, y *tensor.Dense) float64 {
	s := 0.0
	for i, v := range x.Data {
		s += float64(v) * float64(y.Data[i])
	}
	return s
}

// random returns a matrix with empty rows, loops, duplicates and one full row
// twice over.
func random(rng *rand.Rand, rows, cols, nnz int, weighted bool) *sparse.CSR {
	var r, c []int32
	var v []float
	add := func(i, j int) { r, c = append(r, int32(i)), append(c, int32(j)) }
	for range nnz {
		i := rng.IntN(rows)
		if i%4 == 1 {
			continue // an empty row
		}
		j := rng.IntN(cols)
		add(i, j)
		if rng.IntN(4) == 0 {
			add(i, j)
		}
		if i < cols && rng.IntN(4) == 0 {
			add(i, i)
		}
	}
	for j := range 2 * cols {
		add(rows/2&^3, j%cols)
	}
	if weighted {
		v = make([]float, len(r))
		for k := range v {
			v[k] = float(rng.NormFloat64())
		}
	}
	a, _, err := sparse.FromCOO(rows, cols, r, c, v)
	if err != nil {
		panic(err)
	}
	return a
}

func normal(rng *rand.Rand, shape ...int) *tensor.Dense {
	x := tensor.New(shape...)
	sparing.Normals(rng, x.Data)
	return x
}

// regular returns the structure of a matrix of so many nonzeros, about as many in each
// row and at random columns.
func regular(t testing.TB, rng *rand.Rand, rows, cols, nnz int) *sparse.CSR {
	t.Helper()
	offsets, at := make([]int64, rows+1), make([]int32, nnz)
	for r := range rows + 1 {
		offsets[r] = int64(nnz) * int64(r) / int64(rows)
	}
	for k := range at {
		at[k] = rng.Int32N(int32(cols))
	}
	a, err := sparse.New(rows, cols, offsets, at, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// spoilt returns n elements that nobody may read.
func spoilt(n int) []float {
	x := make([]float, n)
	for i := range x {
		x[i] = float(math.NaN())
	}
	return x
}

// spoiltLike returns an array of x's shape that nobody may read.
func spoiltLike(x *tensor.Dense) *tensor.Dense {
	y := x.Like()
	y.Fill(float(math.NaN()))
	return y
}
