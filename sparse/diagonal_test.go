package sparse_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
)

// Blocks of a matrix that is its own transpose share their memory with theirs. Of one that
// is not, or not in the order of its nonzeros, they are turned.
func TestDiagonalOf(t *testing.T) {
	must := func(n int, offsets []int64, cols []int32) *sparse.CSR {
		a, err := sparse.New(n, n, offsets, cols, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for name, c := range map[string]struct {
		whole, block *sparse.CSR
		shared       bool
	}{
		"its own":       {must(5, []int64{0, 2, 3, 4, 5, 6}, []int32{1, 2, 0, 0, 4, 3}), must(3, []int64{0, 2, 3, 4}, []int32{1, 2, 0, 0}), true},
		"another order": {must(5, []int64{0, 2, 3, 4, 5, 6}, []int32{2, 1, 0, 0, 4, 3}), must(3, []int64{0, 2, 3, 4}, []int32{2, 1, 0, 0}), false},
		"another":       {must(3, []int64{0, 2, 2, 2}, []int32{1, 2}), must(3, []int64{0, 2, 2, 2}, []int32{1, 2}), false},
		"no square": {func() *sparse.CSR {
			a, err := sparse.New(1, 2, []int64{0, 1}, []int32{0}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}(), must(1, []int64{0, 1}, []int32{0}), false},
	} {
		plain := must(c.block.NumRows, c.block.Offsets, c.block.Cols)
		c.block.DiagonalOf(c.whole)
		weighted := c.block.WithValues(make([]float, c.block.NNZ()))
		for k := range weighted.Values {
			weighted.Values[k] = float(k)
		}
		got, perm := c.block.Transpose()
		want, wantPerm := plain.Transpose()
		if !slices.Equal(got.Offsets, want.Offsets) || !slices.Equal(got.Cols, want.Cols) || !slices.Equal(perm, wantPerm) {
			t.Errorf("%s: %v %v %v, want %v %v %v", name, got.Offsets, got.Cols, perm, want.Offsets, want.Cols, wantPerm)
		}
		if shared := &got.Cols[0] == &c.block.Cols[0]; shared != c.shared {
			t.Errorf("%s: memory in common: %t", name, shared)
		}
		turned, _ := weighted.Transpose()
		for k, e := range wantPerm {
			if turned.Values[k] != float(e) {
				t.Errorf("%s: value %d is %v, want %d", name, k, turned.Values[k], e)
			}
		}
		if back, _ := got.Transpose(); c.shared && !slices.Equal(back.Cols, c.block.Cols) {
			t.Errorf("%s: turned twice %v, want %v", name, back.Cols, c.block.Cols)
		}
	}
}
