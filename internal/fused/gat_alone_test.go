package fused_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/fused"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A destination has the bits that it has alone, whatever else is computed with it: beside
// others whose logits are out of range, on either side or as NaN, and of more edges than a call
// takes. A record changes none of them.
func TestAttentionAlone(t *testing.T) {
	onPaths(t, func(t *testing.T) {
		for _, hd := range [][2]int{{8, 8}, {16, 8}, {8, 3}, {1, 7}, {4, 8}} {
			k, dOut := hubAttention(t, hd[0], hd[1], 1)
			k.Ee, k.Weight, k.Drop = nil, nil, nil
			k.Bias = normal(rand.New(rand.NewPCG(3, 1)), hd[0]*hd[1])
			for _, loud := range []bool{false, true} {
				if loud {
					k.El.Row(17)[hd[0]-1], k.El.Row(18)[0], k.El.Row(599)[0] = 30, -24.5, float(math.NaN())
					k.Er.Row(30)[0], k.Er.Row(650)[hd[0]-1] = 25, -1e4
				}
				checkAlone(t, fmt.Sprint(hd, loud), k, dOut)
			}
		}
	})
}

// checkAlone compares every destination, and some next to each other, with the whole.
func checkAlone(t *testing.T, what string, k *fused.GAT, dOut *tensor.Dense) {
	t.Helper()
	whole, rec := dOut.Like(), records(k)
	k.Forward(whole, rec)
	part := *k
	for v, n := 0, 0; v < k.In.NumRows; v += n {
		n = min(1+v%7/3, k.In.NumRows-v) // one, two or three
		lo, hi := k.In.Offsets[v], k.In.Offsets[v+n]
		part.In = &sparse.CSR{NumRows: n, NumCols: k.In.NumCols, Offsets: make([]int64, n+1), Cols: k.In.Cols[lo:hi]}
		for i := range part.In.Offsets {
			part.In.Offsets[i] = k.In.Offsets[v+i] - lo
		}
		part.Er = k.Er.RowRange(v, v+n)
		got := spoiltLike(dOut.RowRange(v, v+n))
		part.Forward(got, nil)
		want := whole.RowRange(v, v+n)
		compare.Near(t, fmt.Sprintf("%s: destinations %d to %d", what, v, v+n), got.Data, want.Data, compare.SameBits.OrNaN())
	}
}
