package sparse_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// words reads 16-bit numbers, shifted so that some are negative.
func words(b []byte) (out []int32) {
	for ; len(b) >= 2; b = b[2:] {
		out = append(out, int32(binary.LittleEndian.Uint16(b))-2)
	}
	return out
}

// use reads everything a matrix of few columns points at.
func use(t *testing.T, a *sparse.CSR) {
	if err := a.Validate(); err != nil {
		t.Fatalf("accepted, but %v", err)
	}
	at, perm := a.Transpose()
	if err := at.Validate(); err != nil || len(perm) != a.NNZ() {
		t.Fatalf("transpose: %v", err)
	}
	x, y := tensor.New(a.NumCols, 1), tensor.New(a.NumRows, 1)
	x.Fill(1)
	sparse.Product{A: a, Add: true}.Into(y, x)
	w := tensor.New(a.NNZ(), 1)
	sparse.Dots{A: a, Add: true}.Into(w, x, y)
	sparse.Softmax{A: a}.Into(w, w)
	sparse.Product{A: a, Transpose: true, Add: true}.Into(x, y)
}

func FuzzNew(f *testing.F) {
	f.Add(2, 3, []byte{2, 0, 3, 0, 4, 0}, []byte{2, 0, 4, 0}, true)
	f.Add(1, 1, []byte{2, 0, 255, 255}, []byte{0, 0}, false)
	f.Add(-1, math.MaxInt, []byte{}, []byte{9}, false)
	f.Fuzz(func(t *testing.T, rows, cols int, offsets, columns []byte, weighted bool) {
		var off []int64
		for _, o := range words(offsets) {
			off = append(off, int64(o))
		}
		c := words(columns)
		var v []float
		if weighted {
			v = make([]float, len(c))
		}
		a, err := sparse.New(rows, cols, off, c, v)
		if err == nil && cols < 1<<16 { // a transpose of more allocates much
			use(t, a)
		}
	})
}

func FuzzFromCOO(f *testing.F) {
	f.Add(2, 3, []byte{2, 0, 3, 0}, []byte{4, 0, 2, 0})
	f.Add(0, 0, []byte{}, []byte{1, 2})
	f.Add(-7, math.MaxInt, []byte{0, 0}, []byte{0, 0})
	f.Fuzz(func(t *testing.T, rows, cols int, r, c []byte) {
		if rows >= 1<<16 || cols >= 1<<16 {
			rows, cols = math.MaxInt, math.MaxInt // too large to be right
		}
		rs, cs := words(r), words(c)
		a, order, err := sparse.FromCOO(rows, cols, rs, cs, nil)
		if err != nil {
			return
		}
		use(t, a)
		sorted := slices.Clone(order)
		slices.Sort(sorted)
		for k := range sorted {
			if sorted[k] != int32(k) {
				t.Fatalf("order %v is not a permutation", order)
			}
		}
		for i := range a.NumRows {
			for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
				if j := order[k]; int(rs[j]) != i || cs[j] != a.Cols[k] {
					t.Fatalf("nonzero %d is (%d,%d), the list has (%d,%d)", k, i, a.Cols[k], rs[j], cs[j])
				}
			}
		}
	})
}
