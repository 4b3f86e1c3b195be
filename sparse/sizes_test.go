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

// spoiltLike returns an array of x's shape that nobody may read.
func spoiltLike(x *tensor.Dense) *tensor.Dense {
	y := x.Like()
	y.Fill(float(math.NaN()))
	return y
}

// A product with the transpose spills where its result has at most 2¹⁸ elements and
// what is gathered more, or where a dropout has left something: in eights, sixteens or
// 32 columns at a time. On either side of that, and with stored zeros, it is what
// the transpose makes of it, whatever was there before, on any number of threads.
func TestSpill(t *testing.T) {
	const rows, cols, nnz = 16500, 60, 34000
	rng := rand.New(rand.NewPCG(8, 3))
	plain := regular(t, rng, rows, cols, nnz)
	values := normal(rng, nnz).Data
	holed := append([]float(nil), values...)
	for i := 0; i < nnz; i += 3 {
		holed[i] = 0
	}
	drop := tensor.NewMask(1, 2, 3, 0.4)
	for _, f := range sparing.Some([]int{8, 15, 16, 24, 32, 48, 64}) { // spilt in 0, 0, 8, 8, 16, 16 and 32 on two threads
		x := normal(rng, rows, f)
		for name, a := range map[string]*sparse.CSR{
			"no zeros": plain.WithValues(values), "zeros": plain.WithValues(holed), "dropped": dropped(plain.WithValues(values), &drop),
			"few": regular(t, rng, 3000, cols, nnz).WithValues(values), // whose x is not large
		} {
			x := tensor.Of(x.Data[:a.NumRows*f], a.NumRows, f)
			turned, _ := a.Transpose()
			want := tensor.New(cols, f)
			sparse.Product{A: turned, Add: true}.Into(want, x)
			got := spoiltLike(want)
			for _, threads := range []int{1, 2, 4, 8, 33} { // which have other widths
				undo := par.SetThreads(threads)
				got.Fill(float(math.NaN()))
				sparse.Product{A: a, Transpose: true}.Into(got, x)
				undo()
				compare.Equal(t, fmt.Sprintf("%s, %d columns, set on %d threads", name, f, threads), got.Data, want.Data)
			}
			got.Fill(3)
			want.Fill(3)
			sparse.Product{A: a, Transpose: true, Add: true}.Into(got, x)
			sparse.Product{A: turned, Add: true}.Into(want, x)
			compare.Equal(t, fmt.Sprintf("%s, %d columns, added", name, f), got.Data, want.Data)
		}
	}
}

// A call of the assembly takes 4096 rows at most, and rows of so many nonzeros as are 2¹⁶
// elements. There are more of both here, on one thread, and what is set was NaN.
func TestPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 7))
	for _, size := range [][3]int{{4095, 4500, 8}, {4097, 4500, 8}, {13_000, 13_000, 4}, {30, 13_000, 8}, {30, 13_000, 9}} {
		rows, nnz, f := size[0], size[1], size[2]
		a := regular(t, rng, rows, 90, nnz)
		x, y, w, z := wholes(rng, 90, f), wholes(rng, rows, f), wholes(rng, nnz, 1), tensor.New(nnz, 1)
		number := make([]int32, rows*f)
		sum, mean, most := y.Like(), y.Like(), y.Like()
		for r := range rows {
			lo, hi := a.Offsets[r], a.Offsets[r+1]
			for k := lo; k < hi; k++ {
				for j, v := range x.Row(int(a.Cols[k])) {
					sum.Row(r)[j] += w.Data[k] * v
					mean.Row(r)[j] += v
					z.Data[k] += v * y.Row(r)[j]
					if k == lo || v > most.Row(r)[j] {
						most.Row(r)[j] = v
					}
				}
			}
			for j := range f {
				if hi > lo {
					mean.Row(r)[j] /= float(hi - lo)
				}
			}
		}
		got := spoiltLike(y)
		sparse.Product{A: a, Weights: w}.Into(got, x)
		compare.Equal(t, fmt.Sprint("SetHeads ", size), got.Data, sum.Data)
		got.Fill(float(math.NaN()))
		sparse.Product{A: a.WithValues(w.Data)}.Into(got, x)
		compare.Equal(t, fmt.Sprint("SetProduct ", size), got.Data, sum.Data)
		got.Fill(float(math.NaN()))
		sparse.Product{A: a, Mean: true}.Into(got, x)
		compare.Equal(t, fmt.Sprint("SetMean ", size), got.Data, mean.Data)
		got.Fill(float(math.NaN()))
		sparse.MaxDense(got, number, a, x)
		compare.Equal(t, fmt.Sprint("MaxDense ", size), got.Data, most.Data)
		dots := spoiltLike(z)
		sparse.Dots{A: a}.Into(dots, x, y)
		compare.Equal(t, fmt.Sprint("SetDots ", size), dots.Data, z.Data)
	}
}

// wholes returns small whole numbers from 1 on, whose sums are exact in any order.
func wholes(rng *rand.Rand, shape ...int) *tensor.Dense {
	d := tensor.New(shape...)
	for i := range d.Data {
		d.Data[i] = float(1 + rng.IntN(5))
	}
	return d
}

// A softmax takes many segments of eight numbers an edge in a call, but one of more than
// 4096 edges by itself, and one of up to 256 may wait before it is stored past the caches.
func TestSoftmaxSizes(t *testing.T) {
	defer func(old int) { cpu.StreamFrom = old }(cpu.StreamFrom)
	var offsets []int64
	at := int64(0)
	for _, n := range []int64{3, 255, 256, 257, 0, 4095, 4096, 4097, 1, 9000, 5} {
		offsets = append(offsets, at)
		at += n
	}
	offsets = append(offsets, at)
	a, err := sparse.New(len(offsets)-1, 1, offsets, make([]int32, at), nil)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(6, 8))
	for _, heads := range []int{8, 3, 1} {
		x, dy := normal(rng, int(at), heads), normal(rng, int(at), heads)
		y, dx := make([]float64, len(x.Data)), make([]float64, len(x.Data))
		for r := range a.NumRows {
			for h := range heads {
				sum, c := 0.0, 0.0
				for e := offsets[r]; e < offsets[r+1]; e++ {
					w := math.Exp(float64(x.Row(int(e))[h]))
					sum += w
					c += w * float64(dy.Row(int(e))[h])
				}
				for e := offsets[r]; e < offsets[r+1]; e++ {
					k := int(e)*heads + h
					y[k] = math.Exp(float64(x.Data[k])) / sum
					dx[k] = y[k] * (float64(dy.Data[k]) - c/sum)
				}
			}
		}
		for _, cpu.StreamFrom = range []int{1 << 22, 1} {
			what := fmt.Sprintf("%d heads, past the caches from %d", heads, cpu.StreamFrom)
			got, gotDX, added := spoiltLike(x), spoiltLike(x), x.Like()
			sparse.Softmax{A: a}.Into(got, x)
			compare.Near(t, what+": softmax", got.Data, y, compare.Off(1e-8, 1e-4))
			sparse.Softmax{A: a}.Grad(gotDX, got, dy)
			compare.Near(t, what+": gradient, set", gotDX.Data, dx, compare.Off(1e-8, 1e-4))
			sparse.Softmax{A: a, Add: true}.Grad(added, got, dy)
			compare.Near(t, what+": gradient, added", added.Data, dx, compare.Off(1e-8, 1e-4))
		}
	}
}

// A column that is out of range is found at either end of every part of a long list.
func TestColumnsOutside(t *testing.T) {
	const n = 2<<16 + 100
	cols := make([]int32, n)
	for _, at := range []int{0, 1<<16 - 1, 1 << 16, 2<<16 - 1, 2 << 16, n - 1} {
		for _, bad := range []int32{-1, 3} {
			cols[at] = bad
			if _, err := sparse.New(1, 3, []int64{0, n}, cols, nil); err == nil {
				t.Errorf("column %d at %d is taken", bad, at)
			}
			cols[at] = 0
		}
	}
}
