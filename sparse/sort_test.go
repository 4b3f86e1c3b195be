package sparse_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/sparse"
)

// A long list is sorted by several threads, and as by a stable sort.
func TestFromCOOThreads(t *testing.T) {
	const rows, cols, n = 700, 900, 80_000
	rng := rand.New(rand.NewPCG(21, 21))
	r, c, v := make([]int32, n), make([]int32, n), make([]float, n)
	want := make([]int32, n)
	for j := range r {
		r[j], c[j], v[j], want[j] = rng.Int32N(rows-9), rng.Int32N(cols), float(j), int32(j)
	}
	slices.SortStableFunc(want, func(i, j int32) int { return int(r[i] - r[j]) })
	for _, threads := range append(sparing.Threads(), 1) {
		undo := par.SetThreads(threads)
		a, order, err := sparse.FromCOO(rows, cols, r, c, v)
		if err != nil || a.Validate() != nil {
			t.Fatal(err, a.Validate())
		}
		at, perm := a.Transpose()
		undo()
		if !slices.Equal(order, want) {
			t.Fatalf("%d threads: another order", threads)
		}
		for k, j := range order {
			if a.Cols[k] != c[j] || a.Values[k] != v[j] {
				t.Fatalf("%d threads: nonzero %d is not element %d of the list", threads, k, j)
			}
		}
		for j := range at.NumRows {
			for k := at.Offsets[j]; k < at.Offsets[j+1]; k++ {
				from := perm[k]
				if int(a.Cols[from]) != j || k > at.Offsets[j] && perm[k-1] >= from ||
					int64(from) < a.Offsets[at.Cols[k]] || int64(from) >= a.Offsets[at.Cols[k]+1] || at.Values[k] != a.Values[from] {
					t.Fatalf("%d threads: nonzero %d of the transpose is wrong", threads, k)
				}
			}
		}
	}
}

// In a long list too the error names the first place.
func TestFirstOfLongList(t *testing.T) {
	const n = 300_000
	r, c := make([]int32, n), make([]int32, n)
	c[280_000], r[290_000] = 7, 9
	_, _, err := sparse.FromCOO(5, 5, r, c, nil)
	if err == nil || !strings.Contains(err.Error(), "element 280000 of the list has column 7") {
		t.Errorf("got %v", err)
	}
	r[150_000], r[150_001], c[150_002] = -1, 9, 9
	_, _, err = sparse.FromCOO(5, 5, r, c, nil)
	if err == nil || !strings.Contains(err.Error(), "element 150000 of the list has row -1") {
		t.Errorf("got %v", err)
	}
	offsets := make([]int64, n+1)
	for i := range offsets {
		offsets[i] = int64(i)
	}
	cols := make([]int32, n)
	cols[270_000], cols[270_001] = 5, -3
	_, err = sparse.New(n, 5, offsets, cols, nil)
	if err == nil || !strings.Contains(err.Error(), "nonzero 270000, in row 270000, has column 5 of") {
		t.Errorf("got %v", err)
	}
	offsets[200_001], offsets[100_001] = 3, 99
	_, err = sparse.New(n, 5, offsets, cols, nil)
	if err == nil || !strings.Contains(err.Error(), "offset 100001 is 99, below the 100000 before it") {
		t.Errorf("got %v", err)
	}
}

func TestCheckFinite(t *testing.T) {
	a := random(rand.New(rand.NewPCG(22, 22)), 9, 9, 60, true)
	if err := a.CheckFinite(); err != nil {
		t.Error(err)
	}
	a.Values[4], a.Values[6] = float(math.Inf(1)), float(math.NaN())
	if err := a.CheckFinite(); err == nil || !strings.Contains(err.Error(), "nonzero 4, in row ") || !strings.Contains(err.Error(), "is +Inf") {
		t.Errorf("got %v", err)
	}
	if err := a.WithValues(nil).CheckFinite(); err != nil {
		t.Error(err)
	}
}

// Columns in order need no sorting, and are transposed as others are.
func TestTransposeOfColumnsInOrder(t *testing.T) {
	for _, a := range []*sparse.CSR{
		{NumRows: 3, NumCols: 4, Offsets: []int64{0, 2, 2, 4}, Cols: []int32{0, 1, 2, 3}}, // of members
		{NumRows: 4, NumCols: 6, Offsets: []int64{0, 0, 3, 5, 5}, Cols: []int32{1, 1, 4, 4, 4}},
		{NumRows: 2, NumCols: 3, Offsets: []int64{0, 0, 0}},
		{NumRows: 2, NumCols: 0, Offsets: []int64{0, 0, 0}},
		{NumRows: 2, NumCols: 2, Offsets: []int64{0, 1, 2}, Cols: []int32{1, 0}}, // out of order
	} {
		got, perm := a.Transpose()
		offsets, rows, order := []int64{0}, []int32(nil), []int32(nil)
		for c := range a.NumCols {
			for i := range a.NumRows {
				for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
					if int(a.Cols[k]) == c {
						rows, order = append(rows, int32(i)), append(order, int32(k))
					}
				}
			}
			offsets = append(offsets, int64(len(rows)))
		}
		if !slices.Equal(got.Offsets, offsets) || !slices.Equal(got.Cols, rows) || !slices.Equal(perm, order) {
			t.Errorf("%v: offsets %v, columns %v, nonzeros %v; want %v, %v, %v", a.Cols, got.Offsets, got.Cols, perm, offsets, rows, order)
		}
	}
}
