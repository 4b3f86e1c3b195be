package sparse_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// degrees returns a matrix with a 1 for each nonzero divided by the number of
// its row's.
func degrees(a *sparse.CSR) *tensor.Dense {
	w := values(a)
	for i := range a.NumRows {
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			w.Data[k] /= float(a.Offsets[i+1] - a.Offsets[i])
		}
	}
	return w
}

func TestProductMean(t *testing.T) {
	trials(t, func(t *testing.T, c trial) {
		for range 2 {
			a, f := c.a, c.heads*c.d
			x, y := normal(c.rng, a.NumCols, f), normal(c.rng, a.NumRows, f)
			want := mul(y, a, degrees(a), x, false)
			sparse.Product{A: a, Mean: true, Add: true}.Into(y, x)
			compare.Near(t, "Mean", y.Data, want, rounded)
			want = mul(x, a, degrees(a), y, true)
			sparse.Product{A: a, Transpose: true, Mean: true, Add: true}.Into(x, y)
			compare.Near(t, "MeanTransposed", x.Data, want, rounded)
			a.Values = nil // and again
		}
	})
}

func TestProductRows(t *testing.T) {
	trials(t, func(t *testing.T, c trial) {
		a, f := c.a, c.heads*c.d
		w, x, y := normal(c.rng, a.NNZ(), f), normal(c.rng, a.NumCols, f), normal(c.rng, a.NumRows, f)
		want := mul(y, a, w, x, false)
		sparse.Product{A: a, Weights: w, Add: true}.Into(y, x)
		compare.Near(t, "Rows", y.Data, want, rounded)
		want = mul(x, a, w, y, true)
		sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(x, y)
		compare.Near(t, "RowsTransposed", x.Data, want, rounded)
	})
}

// best is the definition of MaxDense, of MinDense for a negative sign.
func best(a *sparse.CSR, x *tensor.Dense, sign float) (dst *tensor.Dense, arg []int32) {
	f := x.RowLen()
	dst, arg = tensor.New(a.NumRows, f), make([]int32, a.NumRows*f)
	for i := range a.NumRows {
		for j := range f {
			at := i*f + j
			arg[at] = -1
			for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
				v := x.Row(int(a.Cols[k]))[j]
				top := dst.Data[at]
				if arg[at] < 0 || sign*v > sign*top || v != v && top == top {
					dst.Data[at], arg[at] = v, int32(k)
				}
			}
		}
	}
	return dst, arg
}

func TestBest(t *testing.T) {
	few := []float{float(math.NaN()), float(math.Inf(1)), float(math.Inf(-1)), 0, 1, -1, 2, 0.5}
	trials(t, func(t *testing.T, c trial) {
		a, f := c.a, c.heads*c.d
		x := normal(c.rng, a.NumCols, f)
		for i := range x.Data {
			if c.rng.IntN(3) == 0 {
				x.Data[i] = few[c.rng.IntN(len(few))]
			}
		}
		dst, alone, arg := normal(c.rng, a.NumRows, f), normal(c.rng, a.NumRows, f), make([]int32, a.NumRows*f)
		for sign, run := range map[float]func(*tensor.Dense, []int32, *sparse.CSR, *tensor.Dense){1: sparse.MaxDense, -1: sparse.MinDense} {
			want, from := best(a, x, sign)
			run(dst, arg, a, x)
			what := fmt.Sprintf("sign %v", sign)
			compare.Near(t, what, dst.Data, want.Data, compare.Exactly.OrNaN())
			if !slices.Equal(arg, from) {
				t.Fatalf("%s: the best are %v, want %v", what, arg, from)
			}
			run(alone, nil, a, x)
			compare.Near(t, what+", without arg", alone.Data, want.Data, compare.Exactly.OrNaN())
		}
	})
}

// The gradients of the best element are those of the sum of what won.
func TestBestGrad(t *testing.T) {
	trials(t, func(t *testing.T, c trial) {
		a, f := c.a, c.heads*c.d
		x, dy := normal(c.rng, a.NumCols, f), normal(c.rng, a.NumRows, f)
		y, arg := tensor.New(a.NumRows, f), make([]int32, a.NumRows*f)
		sparse.MaxDense(y, arg, a, x)
		dx := normal(c.rng, a.NumCols, f)
		want := float64s(dx)
		for at, k := range arg {
			if k >= 0 {
				want[int(a.Cols[k])*f+at%f] += float64(dy.Data[at])
			}
		}
		few := dx.Clone()
		sparse.BestGrad(few, arg, a, dy)
		compare.Near(t, "BestGrad", few.Data, want, rounded)
		a.Transpose() // and by the other way
		sparse.BestGrad(dx, arg, a, dy)
		compare.Near(t, "BestGrad transposed", dx.Data, want, rounded)
		compare.Equal(t, "BestGrad both ways", dx.Data, few.Data)
	})
}

// Backward of the best element against finite differences, away from ties.
func TestBestDifferences(t *testing.T) {
	if !gradtest.Sharp {
		t.Skip("float64 only: run with -tags f64")
	}
	rng := rand.New(rand.NewPCG(11, 11))
	a := random(rng, 9, 7, 30, false)
	x, dy := normal(rng, a.NumCols, 6), normal(rng, a.NumRows, 6)
	y, arg := tensor.New(a.NumRows, 6), make([]int32, a.NumRows*6)
	loss := func() float64 { sparse.MaxDense(y, nil, a, x); return inner(y, dy) }
	sparse.MaxDense(y, arg, a, x)
	dx := x.Like()
	sparse.BestGrad(dx, arg, a, dy)
	compare.Gradient(t, "BestGrad", x.Data, dx.Data, loss)
}

// A zero that is stored is like one that is not, whatever it meets.
func TestStoredZeros(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 12))
	for _, n := range []int{20, 900} {
		a := random(rng, n, n, 40*n, true)
		x := normal(rng, n, 24)
		r, c, v := []int32{}, []int32{}, []float{}
		for i := range n {
			for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
				if rng.IntN(5) < 2 || a.Cols[k] == 3 || i == 3 {
					a.Values[k] = 0
				} else {
					r, c, v = append(r, int32(i)), append(c, a.Cols[k]), append(v, a.Values[k])
				}
			}
		}
		for j := range x.Row(3) {
			x.Row(3)[j] = float(math.NaN())
		}
		kept, _, err := sparse.FromCOO(n, n, r, c, v)
		if err != nil {
			t.Fatal(err)
		}
		got, want := tensor.New(n, 24), tensor.New(n, 24)
		sparse.Product{A: a, Add: true}.Into(got, x)
		sparse.Product{A: kept, Add: true}.Into(want, x)
		compare.Equal(t, "Product", got.Data, want.Data)
		sparse.Product{A: a, Transpose: true, Add: true}.Into(got, x)
		sparse.Product{A: kept, Transpose: true, Add: true}.Into(want, x)
		compare.Equal(t, "ProductTransposed", got.Data, want.Data)
		a.Transpose()
		again := tensor.New(n, 24)
		sparse.Product{A: kept, Add: true}.Into(again, x)
		sparse.Product{A: a, Transpose: true, Add: true}.Into(again, x)
		compare.Equal(t, "ProductTransposed, turned", again.Data, want.Data)
	}
}

// hub returns a matrix in which one row and one column have 5000 nonzeros, which are
// several parts, and every fifth row and column has none.
func hub(rng *rand.Rand) *sparse.CSR {
	const n = 1500
	var r, c []int32
	live := func() int32 { return rng.Int32N(n/5)*5 + 1 + rng.Int32N(4) }
	for range 5000 {
		r, c = append(r, 7, live(), live()), append(c, live(), 11, live())
	}
	for i := range int32(n / 5) { // loops, twice
		r, c = append(r, 5*i+1, 5*i+1), append(c, 5*i+1, 5*i+1)
	}
	a, _, err := sparse.FromCOO(n, n, r, c, normal(rng, len(r)).Data)
	if err != nil {
		panic(err)
	}
	return a
}

// everyKernel runs each kernel on one matrix and returns the results.
func everyKernel(a *sparse.CSR, heads, d int) map[string][]float {
	rng := rand.New(rand.NewPCG(uint64(heads), uint64(d)))
	f := heads * d
	x, u := normal(rng, a.NumCols, heads, d), normal(rng, a.NumRows, heads, d)
	w, full := normal(rng, a.NNZ(), heads), normal(rng, a.NNZ(), f)
	y, xt := func() *tensor.Dense { return tensor.New(a.NumRows, f) }, func() *tensor.Dense { return tensor.New(a.NumCols, f) }
	out := map[string][]float{}
	run := func(name string, dst *tensor.Dense, f func(dst *tensor.Dense)) { f(dst); out[name] = dst.Data }
	ones := a.WithValues(nil)
	run("Product", y(), func(z *tensor.Dense) { sparse.Product{A: a, Add: true}.Into(z, x) })
	run("Product of ones", y(), func(z *tensor.Dense) { sparse.Product{A: ones, Add: true}.Into(z, x) })
	run("ProductTransposed", xt(), func(z *tensor.Dense) { sparse.Product{A: a, Transpose: true, Add: true}.Into(z, u) })
	run("ProductTransposed of ones", xt(), func(z *tensor.Dense) { sparse.Product{A: ones, Transpose: true, Add: true}.Into(z, u) })
	run("Mean", y(), func(z *tensor.Dense) { sparse.Product{A: a, Mean: true, Add: true}.Into(z, x) })
	run("MeanTransposed", xt(), func(z *tensor.Dense) { sparse.Product{A: a, Transpose: true, Mean: true, Add: true}.Into(z, u) })
	run("Heads", y(), func(z *tensor.Dense) { sparse.Product{A: a, Weights: w, Add: true}.Into(z, x) })
	run("HeadsTransposed", xt(), func(z *tensor.Dense) { sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(z, u) })
	run("Rows", y(), func(z *tensor.Dense) { sparse.Product{A: a, Weights: full, Add: true}.Into(z, x) })
	run("RowsTransposed", xt(), func(z *tensor.Dense) { sparse.Product{A: a, Weights: full, Transpose: true, Add: true}.Into(z, u) })
	run("Dots", w.Like(), func(z *tensor.Dense) { sparse.Dots{A: a, Add: true}.Into(z, x, u) })
	arg := make([]int32, a.NumRows*f)
	run("MaxDense", y(), func(z *tensor.Dense) { sparse.MaxDense(z, arg, a, x) })
	run("BestGrad", xt(), func(z *tensor.Dense) { sparse.BestGrad(z, arg, a, u) })
	run("MinDense", y(), func(z *tensor.Dense) { sparse.MinDense(z, nil, a, x) })
	return out
}

// No bit of a result depends on the threads, and the kernels of plain Go agree.
func TestKernelThreads(t *testing.T) {
	a := hub(rand.New(rand.NewPCG(13, 13)))
	for _, hd := range sparing.Some([][2]int{{3, 5}, {8, 8}, {1, 7}}) {
		undo := par.SetThreads(1)
		want := everyKernel(a, hd[0], hd[1])
		undo()
		for _, threads := range sparing.Threads() {
			undo := par.SetThreads(threads)
			for name, got := range everyKernel(a, hd[0], hd[1]) {
				if !slices.Equal(got, want[name]) {
					t.Errorf("%s of %v: other bits on %d threads", name, hd, threads)
				}
			}
			undo()
		}
		if sparing.Raced || hd[0] == 1 && !sparing.Full() {
			continue
		}
		undo = cpu.Disable()
		for name, got := range everyKernel(a, hd[0], hd[1]) {
			compare.Near(t, fmt.Sprintf("%s of %v in plain Go", name, hd), got, want[name], rounded)
		}
		undo()
	}
}

// The hub's products against the dense triple loop.
func TestHub(t *testing.T) {
	a := hub(rand.New(rand.NewPCG(14, 14)))
	rng := rand.New(rand.NewPCG(15, 15))
	w, x := normal(rng, a.NNZ(), 2), normal(rng, a.NumCols, 6)
	y := tensor.New(a.NumRows, 6)
	want := mul(y, a, w, x, false)
	sparse.Product{A: a, Weights: w, Add: true}.Into(y, x)
	compare.Near(t, "Heads", y.Data, want, rounded)
	y.Zero()
	want = mul(y, a, w, x, true)
	sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(y, x)
	compare.Near(t, "HeadsTransposed", y.Data, want, rounded)
}

// A call allocates nothing once its tasks are in their pools.
func TestKernelAllocations(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which would empty the pools
	a := hub(rand.New(rand.NewPCG(16, 16)))
	x, y := tensor.New(a.NumCols, 16), tensor.New(a.NumRows, 16)
	w := tensor.New(a.NNZ(), 2)
	arg := make([]int32, len(y.Data))
	for name, run := range map[string]func(){
		"Product":           func() { sparse.Product{A: a, Add: true}.Into(y, x) },
		"ProductTransposed": func() { sparse.Product{A: a, Transpose: true, Add: true}.Into(x, y) },
		"Mean":              func() { sparse.Product{A: a, Mean: true, Add: true}.Into(y, x) },
		"Heads":             func() { sparse.Product{A: a, Weights: w, Add: true}.Into(y, x) },
		"HeadsTransposed":   func() { sparse.Product{A: a, Weights: w, Transpose: true, Add: true}.Into(x, y) },
		"Dots":              func() { sparse.Dots{A: a, Add: true}.Into(w, x, y) },
		"MaxDense":          func() { sparse.MaxDense(y, arg, a, x) },
		"MaxDense/0":        func() { sparse.MaxDense(y, nil, a, x) },
	} {
		n := sparing.Allocations(run)
		if n > 0 && !sparing.Raced {
			t.Errorf("%s: %v allocations a call", name, n)
		}
	}
}
