package sparse_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

type float = tensor.Float

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

func TestFromCOO(t *testing.T) {
	r, c, v := []int32{2, 0, 2, 2, 0}, []int32{1, 3, 0, 1, 3}, []float{1, 2, 3, 4, 5}
	a, order, err := sparse.FromCOO(4, 5, r, c, v)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int64{0, 2, 2, 5, 5}; !slices.Equal(a.Offsets, want) {
		t.Errorf("offsets %v, want %v", a.Offsets, want)
	}
	if want := []int32{3, 3, 1, 0, 1}; !slices.Equal(a.Cols, want) {
		t.Errorf("columns %v, want %v", a.Cols, want)
	}
	if want := []float{2, 5, 1, 3, 4}; !slices.Equal(a.Values, want) {
		t.Errorf("values %v, want %v", a.Values, want)
	}
	if want := []int32{1, 4, 0, 2, 3}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if got := a.Dense(); got.Row(2)[1] != 5 || got.Row(0)[3] != 7 || got.Row(2)[0] != 3 {
		t.Errorf("dense %v", got)
	}
	if cols, values := a.Row(2); !slices.Equal(cols, []int32{1, 0, 1}) || !slices.Equal(values, []float{1, 3, 4}) {
		t.Errorf("row 2 is %v %v", cols, values)
	}
	if err := a.Validate(); err != nil {
		t.Error(err)
	}
}

func TestFromDense(t *testing.T) {
	nan := float(math.NaN())
	x := tensor.Of([]float{0, 2, 0, 0, 0, 0, nan, 0, -1}, 3, 3)
	a := sparse.FromDense(x)
	if want := []int32{1, 0, 2}; !slices.Equal(a.Cols, want) || a.NNZ() != 3 {
		t.Errorf("columns %v, want %v", a.Cols, want)
	}
	if got := a.Dense(); got.Row(0)[1] != 2 || got.Row(2)[0] == got.Row(2)[0] || got.Row(2)[2] != -1 {
		t.Errorf("back to %v", got)
	}
	if empty := sparse.FromDense(tensor.New(0, 3)); empty.Validate() != nil || empty.NNZ() != 0 {
		t.Errorf("an empty matrix has %d nonzeros: %v", empty.NNZ(), empty.Validate())
	}
}

func TestTranspose(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, weighted := range []bool{false, true} {
		a := random(rng, 13, 9, 40, weighted)
		at, perm := a.Transpose()
		if err := at.Validate(); err != nil {
			t.Fatal(err)
		}
		x, y := a.Dense(), at.Dense()
		for i := range 13 {
			for j := range 9 {
				if math.Abs(float64(x.Row(i)[j]-y.Row(j)[i])) > 1e-5 {
					t.Fatalf("(%d,%d): %v, transposed %v", i, j, x.Row(i)[j], y.Row(j)[i])
				}
			}
		}
		for j := range at.NumRows {
			run := perm[at.Offsets[j]:at.Offsets[j+1]]
			if !slices.IsSorted(run) {
				t.Errorf("row %d of the transpose is not in a's order: %v", j, run)
			}
			for _, k := range run {
				if int(a.Cols[k]) != j {
					t.Errorf("nonzero %d has column %d, not %d", k, a.Cols[k], j)
				}
			}
		}
	}
}

func TestTransposeFollowsValues(t *testing.T) {
	a := random(rand.New(rand.NewPCG(2, 2)), 6, 5, 20, true)
	a.Transpose()
	a.Values[3] = 99
	at, perm := a.Transpose()
	if k := slices.Index(perm, 3); at.Values[k] != 99 {
		t.Errorf("value %v, want the new one", at.Values[k])
	}
}

func TestTransposeOnce(t *testing.T) {
	a := random(rand.New(rand.NewPCG(3, 3)), 50, 50, 300, false)
	got := make([]*sparse.CSR, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() { got[i], _ = a.Transpose() })
	}
	wg.Wait()
	for _, at := range got {
		if at != got[0] {
			t.Fatal("two goroutines got two transposes")
		}
	}
}

func TestNormaliseRows(t *testing.T) {
	a, _, err := sparse.FromCOO(4, 2, []int32{0, 0, 2, 3, 3}, []int32{0, 1, 1, 0, 1}, []float{1, 3, 5, 2, -2})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := a.NormaliseRows().Values, []float{0.25, 0.75, 1, 2, -2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	a.Values = nil
	if got, want := a.NormaliseRows().Values, []float{0.5, 0.5, 1, 0.5, 0.5}; !slices.Equal(got, want) {
		t.Errorf("without values: got %v, want %v", got, want)
	}
}

func TestNewErrors(t *testing.T) {
	for _, test := range []struct {
		rows, cols int
		offsets    []int64
		columns    []int32
		values     []float
		want       string
	}{
		{-1, 2, nil, nil, nil, "-1 rows, want 0 to"},
		{2, -3, []int64{0, 0, 0}, nil, nil, "-3 columns, want 0 to"},
		{math.MaxInt, 1, []int64{0}, nil, nil, "rows, want 0 to "},
		{0, beyond, []int64{0}, nil, nil, " columns, want 0 to 2147483647"},
		{0, 0, nil, nil, nil, "0 offsets for 0 rows, want 1"},
		{2, 2, []int64{0, 1}, []int32{0}, nil, "2 offsets for 2 rows, want 3"},
		{1, 2, []int64{1, 1}, []int32{0}, nil, "offset 0 is 1, want 0"},
		{2, 2, []int64{0, 2, 1}, []int32{0, 1}, nil, "offset 2 is 1, below the 2 before it"},
		{2, 2, []int64{0, 1 << 62, 1}, []int32{0}, nil, "offset 1 is 4611686018427387904, beyond the 1 columns"},
		{2, 2, []int64{0, -5, 1}, []int32{0}, nil, "offset 1 is -5, below the 0 before it"},
		{1, 2, []int64{0, 1}, []int32{0, 1}, nil, "the last offset is 1, want 2"},
		{2, 2, []int64{0, 1, 2}, []int32{0, 2}, nil, "nonzero 1, in row 1, has column 2 of a matrix of 2 columns"},
		{2, 2, []int64{0, 1, 2}, []int32{-7, 2}, nil, "nonzero 0, in row 0, has column -7"},
		{1, 2, []int64{0, 1}, []int32{0}, []float{}, "0 values for 1 columns"},
	} {
		a, err := sparse.New(test.rows, test.cols, test.offsets, test.columns, test.values)
		if err == nil || a != nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("New(%d, %d, %v, %v, %v): %v, want %q", test.rows, test.cols, test.offsets, test.columns, test.values, err, test.want)
		}
	}
}

// beyond is a number of columns that int32 indices cannot count; a system of 32 bits has none
// but the negative ones.
var beyond = func() int {
	if math.MaxInt == math.MaxInt32 {
		return -1
	}
	return math.MaxInt
}()

func TestFromCOOErrors(t *testing.T) {
	for _, test := range []struct {
		rows, cols int
		r, c       []int32
		v          []float
		want       string
	}{
		{-1, 1, nil, nil, nil, "-1 rows"},
		{math.MaxInt, 1, nil, nil, nil, " rows, want 0 to"},
		{1, beyond, nil, nil, nil, " columns, want 0 to"},
		{2, 2, []int32{0, 1}, []int32{0}, nil, "2 row numbers with 1 column numbers"},
		{2, 2, []int32{0}, []int32{0}, []float{1, 2}, "2 values for 1 elements"},
		{2, 3, []int32{0, 2}, []int32{0, 0}, nil, "element 1 of the list has row 2 of a matrix of 2 rows"},
		{2, 3, []int32{0, -1}, []int32{0, 0}, nil, "element 1 of the list has row -1"},
		{2, 3, []int32{0, 1}, []int32{0, 3}, nil, "element 1 of the list has column 3 of a matrix of 3 columns"},
		{2, 3, []int32{0, 1}, []int32{-9, 3}, nil, "element 0 of the list has column -9"},
	} {
		_, _, err := sparse.FromCOO(test.rows, test.cols, test.r, test.c, test.v)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("FromCOO(%d, %d, %v, %v, %v): %v, want %q", test.rows, test.cols, test.r, test.c, test.v, err, test.want)
		}
	}
}
