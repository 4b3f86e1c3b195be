//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// pairsFast is Pairs.
func (k *Heads) pairsFast() bool {
	k.rowDots(k.W, k.Y, 0, k.rows, 1)
	return true
}

// rowDots sets w, or with add adds to it, for rows from the first on.
func (k *Heads) rowDots(w, y []Float, first, rows, add int) {
	step := max(1, cpu.AtOnce/(k.H*k.Width))
	for end := first + rows; first < end; first += step {
		n := min(step, end-first)
		for h := 0; h < k.H; {
			to, x, with := place(w, first*k.WStride+h), place(k.X, first*k.XStride+h*k.Width), place(y, first*k.YStride+h*k.Width)
			if k.Width == 8 && k.H-h >= 4 {
				four.RowDots8(to, x, with, n, k.WStride*floatSize, k.XStride*floatSize, k.YStride*floatSize, add)
				h += 4
				continue
			}
			four.RowDots(to, x, with, n, k.H-h, k.Width, k.WStride*floatSize, k.XStride*floatSize, k.YStride*floatSize, add)
			h = k.H
		}
	}
}

// foldFast is Fold, and spreadFast Spread.
func (k *Heads) foldFast() bool { return k.spreadFast() }
func (k *Heads) spreadFast() bool {
	k.scaled(0, k.rows)
	return true
}

// scaled adds rows of X, from the first on, times their numbers to those of Y.
func (k *Heads) scaled(first, rows int) {
	step := max(1, cpu.AtOnce/(k.H*k.Width))
	for end := first + rows; first < end; first += step {
		four.RowsScaled(place(k.Y, first*k.YStride), place(k.X, first*k.XStride), place(k.W, first*k.WStride), min(step, end-first), k.H, k.Width,
			k.YStride*floatSize, k.XStride*floatSize, k.WStride*floatSize)
	}
}

// pairRows is how many rows of a DotPair are read again while they are in the cache.
const pairRows = 32

// pairsFast is Pairs.
func (e *DotPair) pairsFast(rows int) bool {
	k := Heads{X: e.X, XStride: e.H * e.Width, WStride: e.H, H: e.H, Width: e.Width}
	for lo := 0; lo < rows; lo += pairRows {
		n := min(pairRows, rows-lo)
		k.rowDots(e.L, e.A, lo, n, 0)
		k.rowDots(e.R, e.B, lo, n, 0)
	}
	return true
}

// gradFast is Grad.
func (e *DotPair) gradFast(to DotPairGrads, rows int) bool {
	f := e.H * e.Width
	spread, fold := Heads{Y: to.X, YStride: f, WStride: e.H, H: e.H, Width: e.Width}, Heads{X: e.X, XStride: f, WStride: e.H, H: e.H, Width: e.Width}
	for lo := 0; lo < rows; lo += pairRows {
		n := min(pairRows, rows-lo)
		for _, p := range [...]struct{ x, y, w []Float }{{e.B, to.B, e.R}, {e.A, to.A, e.L}} {
			spread.X, spread.W, fold.Y, fold.W = p.x, p.w, p.y, p.w
			spread.scaled(lo, n)
			fold.scaled(lo, n)
		}
	}
	return true
}
