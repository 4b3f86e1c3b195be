//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package attend

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// sumFast is Sum, of a row at a time, whose edges are added up before they are scaled.
func (k *Heads) sumFast() bool {
	var room [1 << 10]Float
	f := k.H * k.Width
	if f > len(room) {
		return false
	}
	k.slots(func(r, lo, hi, slot int) {
		for h, n := 0, 0; h < k.H; h += n {
			n = k.sumHeads(room[h*k.Width:], h, lo, hi, slot)
		}
		y, x, w := k.Y[r*k.YStride:][:f], place(room[:], 0), place(k.S, r*k.SStride)
		if k.Set != 0 {
			clear(y)
		}
		four.RowsScaled(place(y, 0), x, w, 1, k.H, k.Width, 0, 0, 0)
	})
	return true
}

// sumHeads sets y to the sums of the edges from lo to hi of four heads from h on, or of one, and returns of how many.
func (k *Heads) sumHeads(y []Float, h, lo, hi, slot int) (heads int) {
	ends := [2]int64{0, int64(hi - lo)}
	if lo == hi {
		clear(y[:k.Width])
		return 1
	}
	offsets, cols, w := unsafe.Pointer(&ends), place(k.Cols, lo), place(k.W, slot*k.WStride+h)
	xs, ws, n := k.XStride*floatSize, k.WStride*floatSize, hi-lo
	if k.Width == 8 && k.H-h >= 4 {
		four.RowsHeads8(place(y, 0), place(k.X, 8*h), w, offsets, cols, nil, 1, xs, 0, ws, 0, n, 1)
		return 4
	}
	for j := 0; j < k.Width; {
		j += four.RowsSum(place(y, j), place(k.X, h*k.Width+j), w, offsets, cols, nil, 1, k.Width-j, xs, 0, ws, 0, n, 1)
	}
	return 1
}

// dotsFast is Dots, of a row at a time.
func (k *Heads) dotsFast() bool {
	k.slots(func(r, lo, hi, slot int) {
		if lo == hi {
			return
		}
		ends, d := [2]int64{0, int64(hi - lo)}, k.Width*floatSize
		four.EdgeDots(place(k.G, slot*k.WStride), place(k.V, r*k.YStride), place(k.X, 0), unsafe.Pointer(&ends), place(k.Cols, lo),
			1, k.H, k.Width, k.WStride*floatSize, d, d, 0, k.XStride*floatSize, 0, hi-lo, 0)
	})
	return true
}

// bothFast leaves it to Sum and Dots.
func (k *Heads) bothFast() bool { return false }

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
