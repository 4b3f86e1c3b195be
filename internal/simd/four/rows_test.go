//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// sumRows is the twin of the sums of rows. There are weights for every so many columns; 0: none.
func sumRows[F number](y, x, w []F, offsets []int64, cols, edges []int32, n, each, xs, ys, ws, from, to int, set bool) {
	for i := range len(offsets) - 1 {
		for j := range n {
			s := y[i*ys+j]
			if set {
				s = 0
			}
			for k := max(offsets[i], int64(from)); k < min(offsets[i+1], int64(to)); k++ {
				v, e := x[int(cols[k])*xs+j], int(k)
				if edges != nil {
					e = int(edges[k])
				}
				if each > 0 {
					v = F(v * w[e*ws+j/each])
				}
				s += v
			}
			y[i*ys+j] = s
		}
	}
}

// oneIf is 1 if b.
func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestSumsOfRows(t *testing.T) {
	type call func(y, x, w, offsets, cols, edges unsafe.Pointer, rows, n, xs, ys, ws, from, to, set int)
	plain := func(f func(y, x, offsets, cols unsafe.Pointer, rows, n, xs, ys, from, to, set int)) call {
		return func(y, x, _, offsets, cols, _ unsafe.Pointer, rows, n, xs, ys, _, from, to, set int) {
			f(y, x, offsets, cols, rows, n, xs, ys, from, to, set)
		}
	}
	narrow := func(f func(y, x, w, offsets, cols, edges unsafe.Pointer, rows, xs, ys, ws, from, to, set int)) call {
		return func(y, x, w, offsets, cols, edges unsafe.Pointer, rows, _, xs, ys, ws, from, to, set int) {
			f(y, x, w, offsets, cols, edges, rows, xs, ys, ws, from, to, set)
		}
	}
	for _, k := range []struct {
		name         string
		least, most  int
		each, weighs int
		f            call
	}{
		{"RowsSum16", 32, 64, 64, 1, RowsSum16}, {"RowsSum8", 16, 32, 64, 1, RowsSum8}, {"RowsSum4", 8, 16, 64, 1, RowsSum4}, {"RowsSum2", 4, 8, 64, 1, RowsSum2},
		{"RowsSum1", 1, 1, 1, 1, narrow(RowsSum1)}, {"RowsHeads8", 32, 32, 8, 4, narrow(RowsHeads8)},
		{"RowsAdd16", 32, 64, 0, 1, plain(RowsAdd16)}, {"RowsAdd8", 16, 32, 0, 1, plain(RowsAdd8)}, {"RowsAdd4", 8, 16, 0, 1, plain(RowsAdd4)}, {"RowsAdd2", 4, 8, 0, 1, plain(RowsAdd2)},
	} {
		each(t, 60, func(t *testing.T, rng *rand.Rand) {
			rows, n, cols := rng.IntN(6), k.least+rng.IntN(k.most-k.least+1), 1+rng.IntN(9)
			offsets, columns, edges := list(rng, rows, cols, rng.IntN(12))
			xs, ys, ws, set := n+rng.IntN(4), n+rng.IntN(4), k.weighs+rng.IntN(3), rng.IntN(2)
			x, w, y := drawn(rng, cols*xs, positive(rng)), drawn(rng, len(columns)*ws, positive(rng)), drawn(rng, rows*ys, positive(rng))
			from, to := 0, len(columns)
			if rng.IntN(3) == 0 {
				from, to = rng.IntN(len(columns)+1), rng.IntN(len(columns)+1)
			}
			list := begin(edges)
			if rng.IntN(2) == 0 {
				edges, list = nil, nil
			}
			want, same := wide(y.x), append([]float32{}, y.x...)
			sumRows(want, wide(x.x), wide(w.x), offsets, columns, edges, n, k.each, xs, ys, ws, from, to, set == 1)
			sumRows(same, x.x, w.x, offsets, columns, edges, n, k.each, xs, ys, ws, from, to, set == 1)
			k.f(y.at(0), x.at(0), w.at(0), begin(offsets), begin(columns), list, rows, n, 4*xs, 4*ys, 4*ws, from, to, set)
			what := named("%s: %d rows of %d", k.name, rows, n)
			y.intact(t, what)
			near(t, what, y.x, want, 14+2)
			near(t, what+" in plain Go", y.x, wide(same), 0)
		})
	}
}

func TestRowsDivide(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		rows, n := rng.IntN(6), rng.IntN(20)
		offsets, _, _ := list(rng, rows, 3, 5)
		ys := n + rng.IntN(3)
		y := drawn(rng, rows*ys, normal(rng))
		want := wide(y.x)
		for i := range rows {
			for j := range n {
				want[i*ys+j] /= float64(max(1, offsets[i+1]-offsets[i]))
			}
		}
		RowsDivide(y.at(0), begin(offsets), rows, n, 4*ys)
		y.intact(t, "RowsDivide")
		near(t, "RowsDivide", y.x, want, 1)
	})
}

// spill is the twin of Spill8 and Spill2.
func spill[F number](y, x, w []F, offsets []int64, cols []int32, n, xs, ys int, skip bool) {
	for i := range len(offsets) - 1 {
		for k := offsets[i]; k < offsets[i+1]; k++ {
			for j := range n {
				if !skip || w[k] != 0 {
					y[int(cols[k])*ys+j] += F(w[k] * x[i*xs+j])
				}
			}
		}
	}
}

func TestSpills(t *testing.T) {
	for _, k := range []struct {
		name        string
		least, most int
		f           func(y, x, w, offsets, cols unsafe.Pointer, rows, n, xs, ys, skip int)
	}{{"Spill8", 16, 32, Spill8}, {"Spill2", 4, 8, Spill2}} {
		each(t, 60, func(t *testing.T, rng *rand.Rand) {
			rows, n, cols := rng.IntN(6), k.least+rng.IntN(k.most-k.least+1), 1+rng.IntN(9)
			offsets, columns, _ := list(rng, rows, cols, 8)
			xs, ys, skip := n+rng.IntN(4), n+rng.IntN(4), rng.IntN(2)
			weight := func() float32 { return max(0, rng.Float32()-0.2) }
			x, w, y := drawn(rng, rows*xs, positive(rng)), drawn(rng, len(columns), weight), drawn(rng, cols*ys, positive(rng))
			want, same := wide(y.x), append([]float32{}, y.x...)
			spill(want, wide(x.x), wide(w.x), offsets, columns, n, xs, ys, skip == 1)
			spill(same, x.x, w.x, offsets, columns, n, xs, ys, skip == 1)
			k.f(y.at(0), x.at(0), w.at(0), begin(offsets), begin(columns), rows, n, 4*xs, 4*ys, skip)
			what := named("%s: %d rows of %d", k.name, rows, n)
			y.intact(t, what)
			near(t, what, y.x, want, 60)
			near(t, what+" in plain Go", y.x, wide(same), 0)
		})
	}
}
