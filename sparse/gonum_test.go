package sparse_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

func TestMatrix(t *testing.T) {
	a := random(rand.New(rand.NewPCG(31, 31)), 8, 6, 30, true)
	m, want := a.Matrix(), a.Dense()
	if r, c := m.Dims(); r != 8 || c != 6 {
		t.Fatalf("%d×%d", r, c)
	}
	for i := range 8 {
		for j := range 6 {
			got := tensor.Of([]float{float(m.At(i, j)), float(m.T().At(j, i))}, 2)
			compare.Near(t, "At", got.Data, []float64{float64(want.Row(i)[j]), float64(want.Row(i)[j])}, rounded)
		}
	}
	for _, at := range [][2]int{{-1, 0}, {8, 0}, {0, -1}, {0, 6}} {
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.As(err, new(mat.Error)) {
					t.Errorf("At(%d, %d): %v, want an error of mat", at[0], at[1], err)
				}
			}()
			m.At(at[0], at[1])
		}()
	}
}

func TestFromMat(t *testing.T) {
	for name, m := range map[string]mat.Matrix{
		"dense":       mat.NewDense(2, 3, []float64{0, 1.5, 0, -2, 0, 4}),
		"band":        mat.NewBandDense(3, 3, 0, 1, []float64{1, 2, 3, 0, 5, 0}),
		"view":        random(rand.New(rand.NewPCG(32, 32)), 9, 7, 30, true).Matrix(),
		"zero":        mat.NewDense(2, 2, nil),
		"part":        mat.NewDense(3, 4, []float64{1, 2, 3, 4, 0, 6, 0, 8, 9, 10, 11, 0}).Slice(1, 3, 1, 3),
		"turned":      mat.NewDense(2, 3, []float64{0, 1.5, 0, -2, 0, 4}).T(),
		"turned view": random(rand.New(rand.NewPCG(33, 33)), 9, 7, 30, true).Matrix().T(),
		"symmetric":   mat.NewSymDense(2, []float64{1, 2, 2, 0}),
	} {
		a, err := sparse.FromMat(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Validate(); err != nil {
			t.Fatal(err)
		}
		rows, cols := m.Dims()
		want := make([]float64, 0, rows*cols)
		for i := range rows {
			for j := range cols {
				want = append(want, m.At(i, j))
			}
		}
		compare.Near(t, name, a.Dense().Data, want, rounded)
		compare.Near(t, name+", dense", tensor.FromMat(m).Data, want, rounded)
		for k, v := range a.Values {
			if v == 0 {
				t.Errorf("%s: nonzero %d is zero", name, k)
			}
		}
	}
	_, err := sparse.FromMat(huge{})
	if err == nil || !strings.Contains(err.Error(), "2147483648 columns, want 0 to 2147483647") {
		t.Errorf("got %v", err)
	}
}

// Neither asks for an element where there is a quicker way.
func TestFromMatAsksNothing(t *testing.T) {
	dense := mat.NewDense(2, 2, []float64{0, 1, 2, 3})
	band := mat.NewBandDense(2, 2, 0, 1, []float64{1, 2, 3, 0})
	for _, m := range []mat.Matrix{rawAlone{dense}, nonZeroAlone{band}} {
		if _, err := sparse.FromMat(m); err != nil {
			t.Error(err)
		}
		tensor.FromMat(m)
	}
}

// rawAlone and nonZeroAlone panic when they are asked for an element.
type (
	rawAlone     struct{ *mat.Dense }
	nonZeroAlone struct{ *mat.BandDense }
)

func (rawAlone) At(_, _ int) float64     { panic("asked for an element") }
func (nonZeroAlone) At(_, _ int) float64 { panic("asked for an element") }

// huge is a matrix of more columns than a CSR can have.
type huge struct{ mat.Matrix }

func (huge) Dims() (r, c int) {
	columns := math.MaxInt32
	columns++ // −2³¹ where an int has 32 bits
	return 1, columns
}

func TestFeatures(t *testing.T) {
	a := sparse.FromDense(tensor.Of([]float{1, 0, 0, 2}, 2, 2))
	if got := a.Density(); got != 0.5 {
		t.Errorf("density %v, want 0.5", got)
	}
	if got := sparse.Features(a, 0.5); got != tensor.Array(a) {
		t.Errorf("%T, want the matrix itself", got)
	}
	x, ok := sparse.Features(a, 0.4).(*tensor.Dense)
	if !ok || x.Row(1)[1] != 2 || x.Row(0)[1] != 0 {
		t.Errorf("got %v, want a dense array", x)
	}
	if got := sparse.FromDense(tensor.New(0, 3)).Density(); got != 0 {
		t.Errorf("density %v of no elements", got)
	}
}
