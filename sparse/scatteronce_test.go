package sparse

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestScatterOnce: the first product with the transpose of a structure runs by its rows and does
// not turn it, the second turns it, and both have the bits of a plain loop. Matrices of one
// structure count as one. What is too large, of other widths or of several heads turns at once.
func TestScatterOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	const rows, columns = 3000, 1500
	a := &CSR{NumRows: rows, NumCols: columns, Offsets: []int64{0}}
	for range rows {
		for range rng.IntN(7) {
			a.Cols = append(a.Cols, int32(rng.IntN(columns-1))) // the last is empty
		}
		a.Offsets = append(a.Offsets, int64(len(a.Cols)))
	}
	for _, c := range []struct {
		f, heads int
		once     bool
	}{{8, 1, true}, {16, 1, true}, {32, 1, true}, {16, 2, false}, {24, 1, false}, {128, 1, false}} {
		for _, add := range []bool{false, true} {
			a := &CSR{NumRows: rows, NumCols: columns, Offsets: a.Offsets, Cols: a.Cols}
			x, was, weights := tensor.New(rows, c.f), tensor.New(columns, c.f), tensor.New(a.NNZ(), c.heads)
			for _, d := range []*tensor.Dense{x, was, weights} {
				sparing.Normals(rng, d.Data)
			}
			weights.Data[5] = 0
			want := was.Clone()
			if !add {
				want.Zero()
			}
			p := Product{A: a, Weights: weights, Transpose: true, Add: add}
			p.scatter(want, x)
			for time := range 3 {
				undo := par.SetThreads(1 + time)
				got := was.Clone()
				p.Into(got, x)
				undo()
				if !slices.Equal(got.Data, want.Data) {
					t.Errorf("product %d of %+v, add %v: other sums", time, c, add)
				}
				if turned := a.turned(); turned != (time > 0 || !c.once) {
					t.Errorf("after product %d of %+v: turned %v", time, c, turned)
				}
				p.A = a.WithValues(nil)
			}
		}
	}
}
