//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"testing"
)

// rowDots is the twin of RowDots.
func rowDots[F number](w, x, y []F, rows, heads, n, ws, xs, ys, add int) {
	for i := range rows {
		for h := range heads {
			var s F
			for j := range n {
				s += x[i*xs+h*n+j] * y[i*ys+h*n+j]
			}
			w[i*ws+h] = s + F(add)*w[i*ws+h]
		}
	}
}

func TestRowDots(t *testing.T) {
	each(t, 150, func(t *testing.T, rng *rand.Rand) {
		rows, heads, n, add := rng.IntN(9), 1+rng.IntN(5), rng.IntN(20), rng.IntN(2)
		eight := rng.IntN(3) == 0
		if eight {
			heads, n = 4, 8
		}
		ws, xs, ys := heads+rng.IntN(3), heads*n+rng.IntN(3), (heads*n+rng.IntN(3))*rng.IntN(2)
		w, x, y := drawn(rng, rows*ws, positive(rng)), drawn(rng, rows*xs, positive(rng)), drawn(rng, max(1, rows)*heads*n+rows*ys, positive(rng))
		want := wide(w.x)
		rowDots(want, wide(x.x), wide(y.x), rows, heads, n, ws, xs, ys, add)
		if eight {
			RowDots8(w.at(0), x.at(0), y.at(0), rows, 4*ws, 4*xs, 4*ys, add)
		} else {
			RowDots(w.at(0), x.at(0), y.at(0), rows, heads, n, 4*ws, 4*xs, 4*ys, add)
		}
		w.intact(t, "RowDots")
		near(t, named("RowDots of %d heads of %d", heads, n), w.x, want, float64(n+2))
	})
}

func TestRowsScaled(t *testing.T) {
	each(t, 150, func(t *testing.T, rng *rand.Rand) {
		rows, heads, n := rng.IntN(9), 1+rng.IntN(5), rng.IntN(20)
		ws, xs, ys := heads+rng.IntN(3), heads*n+rng.IntN(3), heads*n+rng.IntN(3)
		switch rng.IntN(3) {
		case 0:
			xs = 0
		case 1:
			ys = 0
		}
		w, x, y := drawn(rng, rows*ws, positive(rng)), drawn(rng, heads*n+rows*xs, positive(rng)), drawn(rng, heads*n+rows*ys, positive(rng))
		want := wide(y.x)
		for i := range rows {
			for j := range heads * n {
				want[i*ys+j] += float64(w.x[i*ws+j/n]) * float64(x.x[i*xs+j])
			}
		}
		RowsScaled(y.at(0), x.at(0), w.at(0), rows, heads, n, 4*ys, 4*xs, 4*ws)
		y.intact(t, "RowsScaled")
		near(t, named("RowsScaled of %d heads of %d", heads, n), y.x, want, float64(rows+2))
	})
}
