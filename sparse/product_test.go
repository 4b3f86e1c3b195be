package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// rounded is for what differs by rounding, relative to the largest element.
var rounded = compare.PartOfLargest(compare.In(1e-5, 1e-12))

func inner(x, y *tensor.Dense) float64 {
	s := 0.0
	for i, v := range x.Data {
		s += float64(v) * float64(y.Data[i])
	}
	return s
}

func float64s(x *tensor.Dense) []float64 {
	out := make([]float64, len(x.Data))
	for i, v := range x.Data {
		out[i] = float64(v)
	}
	return out
}

// trial is a matrix, a number of heads and a width that kernels are tested on.
type trial struct {
	a        *sparse.CSR
	heads, d int
	rng      *rand.Rand
}

// trials runs f on random matrices for every pair of heads and widths.
func trials(t *testing.T, f func(t *testing.T, c trial)) {
	for _, hd := range [][2]int{{1, 7}, {8, 8}, {4, 64}, {1, 3}, {6, 121}, {3, 5}} {
		for size, dims := range [][3]int{{12, 12, 40}, {9, 17, 30}, {20, 5, 60}, {1, 1, 0}} {
			t.Run(fmt.Sprintf("%dx%d/%d", hd[0], hd[1], size), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(hd[0]*1000+hd[1]), uint64(size)))
				f(t, trial{random(rng, dims[0], dims[1], dims[2], true), hd[0], hd[1], rng})
			})
		}
	}
}

// matrix returns, for a head, a dense matrix in float64 of a's structure, of the
// given column of w.
func matrix(a *sparse.CSR, w *tensor.Dense, h int) []float64 {
	m := make([]float64, a.NumRows*a.NumCols)
	for i := range a.NumRows {
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			m[i*a.NumCols+int(a.Cols[k])] += float64(w.Row(int(k))[h])
		}
	}
	return m
}

// values returns a's values as an array of one head.
func values(a *sparse.CSR) *tensor.Dense {
	w := tensor.New(a.NNZ(), 1)
	w.Fill(1)
	if a.Values != nil {
		copy(w.Data, a.Values)
	}
	return w
}

// mul is the triple loop: y[i,h,:] += Σ_j m_h[i,j]·x[j,h,:], or with the
// transposes of the m_h.
func mul(y *tensor.Dense, a *sparse.CSR, w, x *tensor.Dense, transposed bool) []float64 {
	out := float64s(y)
	heads, f := w.RowLen(), x.RowLen()
	d := f / heads
	for h := range heads {
		m := matrix(a, w, h)
		for i := range a.NumRows {
			for j := range a.NumCols {
				to, from := i, j
				if transposed {
					to, from = j, i
				}
				if m[i*a.NumCols+j] == 0 {
					continue
				}
				for n := range d {
					out[to*f+h*d+n] += m[i*a.NumCols+j] * float64(x.Row(from)[h*d+n])
				}
			}
		}
	}
	return out
}

func TestProduct(t *testing.T) {
	trials(t, func(t *testing.T, c trial) {
		for range 2 {
			a, f := c.a, c.heads*c.d
			x, y := normal(c.rng, a.NumCols, c.heads, c.d), normal(c.rng, a.NumRows, f)
			want := mul(y, a, values(a), x, false)
			sparse.Product{A: a, Add: true}.Into(y, x)
			compare.Near(t, "Product", y.Data, want, rounded)

			x, y = normal(c.rng, a.NumRows, f), normal(c.rng, a.NumCols, c.heads, c.d)
			want = mul(y, a, values(a), x, true)
			sparse.Product{A: a, Transpose: true, Add: true}.Into(y, x)
			compare.Near(t, "ProductTransposed", y.Data, want, rounded)
			a.Values = nil // and again
		}
	})
}

func TestProductHeads(t *testing.T) {
	trials(t, func(t *testing.T, c trial) {
		a, f := c.a, c.heads*c.d
		w := normal(c.rng, a.NNZ(), c.heads)
		x, y := normal(c.rng, a.NumCols, c.heads, c.d), normal(c.rng, a.NumRows, f)
		want := mul(y, a, w, x, false)
		sparse.Product{A: a, Weights: w, Add: true}.Into(y, x)
		compare.Near(t, "Heads", y.Data, want, rounded)

		x, y = normal(c.rng, a.NumRows, f), normal(c.rng, a.NumCols, f)
		want = mul(y, a, w, x, true)
		sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(y, x)
		compare.Near(t, "HeadsTransposed", y.Data, want, rounded)
	})
}

func TestDots(t *testing.T) {
	trials(t, func(t *testing.T, c trial) {
		a, f := c.a, c.heads*c.d
		x, y := normal(c.rng, a.NumCols, f), normal(c.rng, a.NumRows, c.heads, c.d)
		z := normal(c.rng, a.NNZ(), c.heads)
		want := float64s(z)
		for i := range a.NumRows {
			for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
				for n := range f {
					want[int(k)*c.heads+n/c.d] += float64(x.Row(int(a.Cols[k]))[n]) * float64(y.Row(i)[n])
				}
			}
		}
		sparse.Dots{A: a, Add: true}.Into(z, x, y)
		compare.Near(t, "Dots", z.Data, want, rounded)
	})
}

// A kernel and its transpose satisfy ⟨Ax, y⟩ = ⟨x, Aᵀy⟩, and the sampled
// product is the adjoint in the weights.
func TestAdjoints(t *testing.T) {
	trials(t, func(t *testing.T, c trial) {
		a, f := c.a, c.heads*c.d
		x, y, w := normal(c.rng, a.NumCols, f), normal(c.rng, a.NumRows, f), normal(c.rng, a.NNZ(), c.heads)
		ax, aty := y.Like(), x.Like()
		sparse.Product{A: a, Add: true}.Into(ax, x)
		sparse.Product{A: a, Transpose: true, Add: true}.Into(aty, y)
		wx, wty, xy := y.Like(), x.Like(), w.Like()
		sparse.Product{A: a, Weights: w, Add: true}.Into(wx, x)
		sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(wty, y)
		sparse.Dots{A: a, Add: true}.Into(xy, x, y)
		tol := compare.In(2e-5, 1e-12)
		for _, p := range [][2]float64{
			{inner(ax, y), inner(x, aty)}, {inner(wx, y), inner(x, wty)}, {inner(wx, y), inner(w, xy)},
		} {
			if scale := 1 + math.Sqrt(inner(ax, ax)*inner(y, y)+inner(wx, wx)*inner(y, y)); math.Abs(p[0]-p[1]) > tol*scale {
				t.Errorf("⟨Ax, y⟩ = %v, ⟨x, Aᵀy⟩ = %v", p[0], p[1])
			}
		}
	})
}

// An element is one chain of additions in the order of the nonzeros, so it does
// not depend on the other rows, on the width or on the way it is reached.
func TestOrderOfSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	a := random(rng, 30, 20, 300, true)
	x := normal(rng, 20, 6)
	y := normal(rng, 30, 6)
	want := y.Clone()
	for i := range a.NumRows {
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			for j := range 6 {
				want.Row(i)[j] += float(a.Values[k] * x.Row(int(a.Cols[k]))[j]) // each product rounded
			}
		}
	}
	heads := y.Clone()
	sparse.Product{A: a, Add: true}.Into(y, x)
	compare.Equal(t, "Product", y.Data, want.Data)

	w := tensor.New(a.NNZ(), 3)
	for k, v := range a.Values {
		copy(w.Row(k), []float{v, v, v})
	}
	sparse.Product{A: a, Weights: w, Add: true}.Into(heads, x)
	compare.Equal(t, "Heads", heads.Data, want.Data)

	at, _ := a.Transpose()
	sorted, _ := at.Transpose() // a with ascending rows, the order at is read in
	byRow, byColumn := tensor.New(30, 6), tensor.New(30, 6)
	sparse.Product{A: sorted, Add: true}.Into(byRow, x)
	sparse.Product{A: at, Transpose: true, Add: true}.Into(byColumn, x)
	compare.Equal(t, "ProductTransposed", byColumn.Data, byRow.Data)
}

func TestShapes(t *testing.T) {
	a := random(rand.New(rand.NewPCG(6, 6)), 4, 3, 10, false)
	n := a.NNZ()
	m := func(rows, cols int) *tensor.Dense { return tensor.New(rows, cols) }
	for op, calls := range map[string][]func(){
		"sparse.Product": {
			func() { sparse.Product{A: a}.Into(m(3, 2), m(3, 2)) },
			func() { sparse.Product{A: a, Add: true}.Into(m(4, 2), m(4, 2)) },
			func() { sparse.Product{A: a, Add: true}.Into(m(4, 2), m(3, 3)) },
			func() { sparse.Product{A: a, Mean: true}.Into(m(3, 2), m(3, 2)) },
			func() { sparse.Product{A: a, Weights: m(n, 4)}.Into(m(4, 6), m(3, 6)) },
			func() { sparse.Product{A: a, Weights: m(n, 0)}.Into(m(4, 6), m(3, 6)) },
			func() { sparse.Product{A: a, Weights: m(n+1, 3)}.Into(m(4, 6), m(3, 6)) },
			func() { sparse.Product{A: a, Weights: m(n, 3), Add: true}.Into(m(4, 3), m(3, 6)) },
			func() { sparse.Product{A: a, Weights: m(n, 6), Add: true}.Into(m(4, 6), m(4, 6)) },
			func() { sparse.Product{A: a, Weights: m(n, 6), Mean: true}.Into(m(4, 6), m(3, 6)) },
		},
		"sparse.Product of the transpose": {
			func() { sparse.Product{A: a, Transpose: true}.Into(m(4, 2), m(4, 2)) },
			func() { sparse.Product{A: a, Transpose: true, Add: true}.Into(m(3, 2), m(3, 2)) },
			func() { sparse.Product{A: a, Transpose: true, Add: true}.Into(m(3, 2), m(4, 1)) },
			func() { sparse.Product{A: a, Transpose: true, Mean: true}.Into(m(4, 2), m(4, 2)) },
			func() { sparse.Product{A: a, Weights: m(n, 4), Transpose: true}.Into(m(3, 6), m(4, 6)) },
			func() { sparse.Product{A: a, Weights: m(n, 3), Transpose: true}.Into(m(4, 6), m(3, 6)) },
			func() { sparse.Product{A: a, Weights: m(n-1, 6), Transpose: true, Add: true}.Into(m(3, 6), m(4, 6)) },
			func() { sparse.Product{A: a, Weights: m(n, 3), Transpose: true, Mean: true}.Into(m(3, 6), m(4, 6)) },
		},
		"sparse.Dots": {
			func() { sparse.Dots{A: a}.Into(m(n, 4), m(3, 6), m(4, 6)) },
			func() { sparse.Dots{A: a, Add: true}.Into(m(n, 3), m(4, 6), m(3, 6)) },
			func() { sparse.Dots{A: a, Add: true}.Into(m(n-1, 3), m(3, 6), m(4, 6)) },
			func() { sparse.Dots{A: a}.Into(m(n, 3), m(3, 6), m(4, 5)) },
		},
		"sparse.Softmax": {
			func() { sparse.Softmax{A: a}.Into(m(n, 2), m(n, 3)) },
			func() { sparse.Softmax{A: a, Add: true}.Into(m(n+1, 2), m(n+1, 2)) },
		},
		"sparse.Softmax.Grad": {
			func() { sparse.Softmax{A: a, Add: true}.Grad(m(n, 2), m(n, 2), m(n, 1)) },
			func() { sparse.Softmax{A: a, Add: true}.Grad(m(n, 1), m(n, 2), m(n, 2)) },
			func() { sparse.Softmax{A: a}.Grad(m(n, 3), m(n, 4), m(n, 4)) },
		},
		"sparse.MaxDense": {
			func() { sparse.MaxDense(m(4, 6), nil, a, m(4, 6)) },
			func() { sparse.MaxDense(m(4, 6), make([]int32, 23), a, m(3, 6)) },
		},
		"sparse.MinDense": {func() { sparse.MinDense(m(4, 5), nil, a, m(3, 6)) }},
		"sparse.BestGrad": {
			func() { sparse.BestGrad(m(3, 6), make([]int32, 23), a, m(4, 6)) },
			func() { sparse.BestGrad(m(4, 6), make([]int32, 24), a, m(4, 6)) },
		},
		"sparse.WithValues": {func() { a.WithValues(make([]float, n+1)) }},
		"sparse.DropValues": {
			func() { sparse.DropValues(make([]float, n-1), a, nil) },
		},
	} {
		for i, call := range calls {
			err, ok := tensor.Try(call).(*tensor.ShapeError)
			if !ok || err.Op != op {
				t.Errorf("%s, call %d: %v, want a ShapeError of it", op, i, err)
			}
		}
	}
}

// Arrays without rows, columns or elements are arrays.
func TestEmpty(t *testing.T) {
	a, err := sparse.New(0, 0, []int64{0}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []int{0, 4} {
		x, w := tensor.New(0, f), tensor.New(0, f/2)
		sparse.Product{A: a, Add: true}.Into(x, x.Like())
		sparse.Product{A: a, Transpose: true, Add: true}.Into(x, x.Like())
		sparse.Product{A: a, Weights: w, Add: true}.Into(x, x.Like())
		sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(x, x.Like())
		sparse.Dots{A: a, Add: true}.Into(w, x, x.Like())
		sparse.Product{A: a, Weights: x.Like(), Add: true}.Into(x, x.Like())
		sparse.Product{A: a, Weights: x.Like(), Transpose: true, Add: true}.Into(x, x.Like())
		sparse.Product{A: a, Mean: true, Add: true}.Into(x, x.Like())
		sparse.Product{A: a, Transpose: true, Mean: true, Add: true}.Into(x, x.Like())
		sparse.MaxDense(x, []int32{}, a, x.Like())
		sparse.BestGrad(x, []int32{}, a, x.Like())
		sparse.Softmax{A: a}.Into(w, w)
		sparse.Softmax{A: a, Add: true}.Grad(w.Like(), w, w)
	}
	if at, perm := a.Transpose(); at.Validate() != nil || len(perm) != 0 || len(a.Dense().Data) != 0 {
		t.Errorf("the transpose of an empty matrix: %v", at.Validate())
	}
}
