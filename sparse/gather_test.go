package sparse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Rows of a sparse matrix are those of the dense one, with values and without,
// some twice, some empty, or none at all.
func TestGatherRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	a := &sparse.CSR{NumRows: 4, NumCols: 3, Offsets: []int64{0, 2, 2, 3, 6}, Cols: []int32{0, 2, 1, 0, 1, 2}}
	for _, values := range [][]tensor.Float{nil, {1, 2, 3, 4, 5, 6}} {
		a.Values = values
		for _, rows := range [][]int32{{}, {1}, {3, 0, 3, 1, 2}, {int32(rng.IntN(4))}} {
			got := sparse.GatherRows(a, rows)
			if (got.Values == nil) != (values == nil) {
				t.Fatalf("values %v become %v", values, got.Values)
			}
			want := tensor.New(len(rows), 3)
			tensor.GatherRows(want, a.Dense(), rows)
			compare.Equal(t, "rows", got.Dense().Data, want.Data)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("row 4 of 4 was gathered")
		}
	}()
	sparse.GatherRows(a, []int32{4})
}
