//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// bestRows is the twin of RowsBest8.
func bestRows[F number](y []F, arg []int32, x []F, offsets []int64, cols []int32, n, xs, ys, from, to int, set, least bool) {
	for i := range len(offsets) - 1 {
		first := max(offsets[i], int64(from))
		for k := first; k < min(offsets[i+1], int64(to)); k++ {
			for j := range n {
				v, top := x[int(cols[k])*xs+j], y[i*ys+j]
				if set && k == first || v > top && !least || v < top && least || v != v && top == top {
					y[i*ys+j], arg[i*ys+j] = v, int32(k)
				}
			}
		}
	}
}

func TestRowsBest(t *testing.T) {
	each(t, 200, func(t *testing.T, rng *rand.Rand) {
		rows, n, cols, set, least := rng.IntN(6), 4+rng.IntN(5), 1+rng.IntN(9), rng.IntN(2), rng.IntN(2)
		offsets, columns, _ := list(rng, rows, cols, rng.IntN(12))
		xs, ys := n+rng.IntN(4), n+rng.IntN(4)
		next := func() float32 {
			switch rng.IntN(30) {
			case 0:
				return float32(math.NaN())
			case 1:
				return float32(math.Inf(1 - 2*rng.IntN(2)))
			}
			return float32(rng.IntN(9) - 4) // with ties
		}
		x, y := drawn(rng, cols*xs, next), drawn(rng, rows*ys, next)
		from, to := 0, len(columns)
		if rng.IntN(3) == 0 {
			from, to = rng.IntN(len(columns)+1), rng.IntN(len(columns)+1)
		}
		list := begin(columns)
		if rng.IntN(4) == 0 { // the rows from the first nonzero on
			from, to, list = int(offsets[0]), len(columns), nil
			for k := range columns {
				columns[k] = int32(max(0, k-from))
			}
			x = drawn(rng, (len(columns)+1)*xs, next)
		}
		arg := make([]int32, rows*ys+1)
		for i := range arg {
			arg[i] = -9
		}
		want, wantArg := append([]float32(nil), y.x...), slices.Clone(arg)
		bestRows(want, wantArg, x.x, offsets, columns, n, xs, ys, from, to, set == 1, least == 1)
		given := begin(arg)
		if rng.IntN(4) == 0 {
			given, wantArg = nil, slices.Clone(arg)
		}
		RowsBest8(y.at(0), given, x.at(0), begin(offsets), list, rows, n, 4*xs, 4*ys, from, to, set, least<<31)
		y.intact(t, "RowsBest8")
		near(t, named("RowsBest8 of %d, set %d", n, set), y.x, wide(want), 0)
		if !slices.Equal(arg, wantArg) {
			t.Fatalf("RowsBest8: nonzeros %v, want %v", arg, wantArg)
		}
	})
}

func TestRowsWon(t *testing.T) {
	each(t, 200, func(t *testing.T, rng *rand.Rand) {
		rows, n, cols := rng.IntN(6), 4+rng.IntN(5), 1+rng.IntN(9)
		offsets, columns, edges := list(rng, rows, cols, rng.IntN(12))
		stride := n + rng.IntN(4)
		x, y := drawn(rng, cols*stride, positive(rng)), drawn(rng, rows*stride, positive(rng))
		from, to := 0, len(columns)
		if rng.IntN(3) == 0 {
			from, to = rng.IntN(len(columns)+1), rng.IntN(len(columns)+1)
		}
		arg := make([]int32, cols*stride)
		for i := range arg { // one of those that point there, or another
			arg[i] = int32(rng.IntN(len(edges) + 1))
			for k, c := range columns {
				if int(c) == i/stride && rng.IntN(2) == 0 {
					arg[i] = edges[k]
				}
			}
		}
		want := append([]float32(nil), y.x...)
		for i := range rows {
			for k := max(offsets[i], int64(from)); k < min(offsets[i+1], int64(to)); k++ {
				for j := range n {
					if at := int(columns[k])*stride + j; arg[at] == edges[k] {
						want[i*stride+j] += x.x[at]
					}
				}
			}
		}
		RowsWon8(y.at(0), x.at(0), begin(arg), begin(offsets), begin(columns), begin(edges), rows, n, 4*stride, from, to)
		y.intact(t, "RowsWon8")
		near(t, "RowsWon8", y.x, wide(want), 0)
	})
}
