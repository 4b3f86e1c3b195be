package sparse_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Dropping the nonzeros is dropping the elements of the dense matrix.
func TestDropValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, p := range []float64{0, 0.5, 0.9, 1} {
		for _, weighted := range []bool{true, false} {
			a := random(rng, 20, 30, 200, weighted)
			x := a.Dense()
			d := tensor.NewMask(1, 2, 3, p)
			dst, kept := make([]float, a.NNZ()), 0
			sparse.DropValues(dst, a, &d)
			for i := range a.NumRows {
				for j := range x.Row(i) {
					if d.Keeps(i, j) {
						x.Row(i)[j] *= float(d.Scale)
					} else {
						x.Row(i)[j] = 0
					}
				}
			}
			for _, v := range dst {
				if v != 0 {
					kept++
				}
			}
			// How many are kept is the hash's affair; that it is some is ours.
			if all, none := kept == a.NNZ(), kept == 0; all != (p == 0) || none != (p == 1) {
				t.Errorf("p = %v: kept %d of %d", p, kept, a.NNZ())
			}
			a.Values = dst
			compare.Near(t, "DropValues", a.Dense().Data, x.Data, rounded)
		}
	}
}

func TestDropValuesNone(t *testing.T) {
	a := random(rand.New(rand.NewPCG(10, 10)), 5, 5, 10, true)
	dst := make([]float, a.NNZ())
	sparse.DropValues(dst, a, nil)
	for k, v := range dst {
		if v != a.Values[k] {
			t.Errorf("value %d is %v, want %v", k, v, a.Values[k])
		}
	}
}

// dropped is a matrix under a dropout.
func dropped(a *sparse.CSR, d *tensor.Mask) *sparse.CSR {
	kept, starts := sparse.DropSizes(a)
	return sparse.Drop(a, d, sparse.DropRoom{
		Values: spoilt(a.NNZ()), Kept: make([]float, kept), Cols: make([]int32, kept), Starts: make([]int64, starts),
	})
}

// spoilt returns n elements that nobody may read.
func spoilt(n int) []float {
	x := make([]float, n)
	for i := range x {
		x[i] = float(math.NaN())
	}
	return x
}

// What a dropout left gives the same bits as its values without that knowledge.
func TestDrop(t *testing.T) {
	for _, size := range [][3]int{{1, 3, 0}, {5, 4, 0}, {20, 30, 200}, {300, 90, 14000}} { // the last in parts
		for _, f := range []int{1, 7, 16, 64, 96} {
			for _, p := range []float64{0, 0.6, 1} {
				if p != 0.6 && f != 7 && f != 64 && !sparing.Full() {
					continue // where all or nothing is left does not depend on the width
				}
				rng := rand.New(rand.NewPCG(uint64(f), uint64(size[0])))
				a := random(rng, size[0], size[1], size[2], f != 7)
				d := tensor.NewMask(1, 2, 3, p)
				b := dropped(a, &d)
				b.Settle()
				want := make([]float, a.NNZ())
				sparse.DropValues(want, a, &d)
				if !slices.Equal(b.Values, want) {
					t.Fatalf("%v, p = %v: other values than DropValues", size, p)
				}
				c := a.WithValues(want)
				checkLeft(t, func() *sparse.CSR { return b }, c, f)
				checkLeft(t, func() *sparse.CSR { return dropped(a, &d) }, c, f)
			}
		}
	}
}

// What reads the values of a dropout's result finds them.
func TestDropSettles(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	a := random(rng, 20, 30, 200, true)
	d := tensor.NewMask(1, 2, 3, 0.5)
	want := make([]float, a.NNZ())
	sparse.DropValues(want, a, &d)
	c := a.WithValues(want)
	for name, values := range map[string]func(a *sparse.CSR) []float{
		"Dense":         func(a *sparse.CSR) []float { return a.Dense().Data },
		"Transpose":     func(a *sparse.CSR) []float { t, _ := a.Transpose(); return t.Values },
		"Row":           func(a *sparse.CSR) []float { _, v := a.Row(7); return v },
		"NormaliseRows": func(a *sparse.CSR) []float { return a.NormaliseRows().Values },
		"Matrix":        func(a *sparse.CSR) []float { return []float{float(mat.Sum(a.Matrix()))} },
	} {
		if got := values(dropped(a, &d)); !slices.Equal(got, values(c)) {
			t.Errorf("%s: %v, want %v", name, got, values(c))
		}
	}
	if err := dropped(a, &d).CheckFinite(); err != nil {
		t.Errorf("CheckFinite: %v", err)
	}
}

// checkLeft compares the products of what make returns, which knows what is left
// and may not have its values yet, and c.
func checkLeft(t *testing.T, make func() *sparse.CSR, c *sparse.CSR, f int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 3))
	x, dy := normal(rng, c.NumCols, f), normal(rng, c.NumRows, f)
	for name, run := range map[string]func(a *sparse.CSR) *tensor.Dense{
		"SetProduct": func(a *sparse.CSR) *tensor.Dense { y := ones(a.NumRows, f); sparse.Product{A: a}.Into(y, x); return y },
		"Product": func(a *sparse.CSR) *tensor.Dense {
			y := ones(a.NumRows, f)
			sparse.Product{A: a, Add: true}.Into(y, x)
			return y
		},
		"Mean": func(a *sparse.CSR) *tensor.Dense {
			y := ones(a.NumRows, f)
			sparse.Product{A: a, Mean: true, Add: true}.Into(y, x)
			return y
		},
		"SetTransposed": func(a *sparse.CSR) *tensor.Dense {
			y := ones(a.NumCols, f)
			sparse.Product{A: a, Transpose: true}.Into(y, dy)
			return y
		},
		"ProductTransposed": func(a *sparse.CSR) *tensor.Dense {
			y := ones(a.NumCols, f)
			sparse.Product{A: a, Transpose: true, Add: true}.Into(y, dy)
			return y
		},
	} {
		want := run(c)
		for _, threads := range append(sparing.Threads(), 1) {
			undo := par.SetThreads(threads)
			got := run(make())
			undo()
			if !slices.Equal(got.Data, want.Data) {
				t.Errorf("%s of %v by %d on %d threads: other bits than without what is left", name, c.Shape(), f, threads)
			}
		}
	}
}

func ones(rows, cols int) *tensor.Dense {
	x := tensor.New(rows, cols)
	for i := range x.Data {
		x.Data[i] = 1
	}
	return x
}

func TestDropSizes(t *testing.T) {
	a := random(rand.New(rand.NewPCG(11, 11)), 5, 5, 10, true)
	d := tensor.NewMask(1, 2, 3, 0.5)
	err := tensor.Try(func() { sparse.Drop(a, &d, sparse.DropRoom{Values: make([]float, a.NNZ())}) })
	if err == nil {
		t.Error("no error of a room without room")
	}
}
