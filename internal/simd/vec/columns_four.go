//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package vec

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/four"
)

// Norms of columns call the kernels of their steps for a part of a row that stays in the first cache.

func centredSquaresFast(sums, x, centre []Float) bool {
	var o part
	return columnParts(len(x), len(centre), func(lo, j, n int) {
		four.Sub(o.at(), begin(x, lo), begin(centre, j), n)
		four.Mul(o.at(), o.at(), o.at(), n)
		four.Add(begin(sums, j), begin(sums, j), o.at(), n)
	})
}

func centredDotsFast(dots, sums, dy, x, centre []Float) bool {
	var o part
	return columnParts(len(x), len(centre), func(lo, j, n int) {
		g := begin(dy, lo)
		four.Sub(o.at(), begin(x, lo), begin(centre, j), n)
		four.Mul(o.at(), o.at(), g, n)
		four.Add(begin(dots, j), begin(dots, j), o.at(), n)
		four.Add(begin(sums, j), begin(sums, j), g, n)
	})
}

func (c *Columns) reluDotsFast(dots, sums, dy, x []Float) bool {
	var o, g part
	return columnParts(len(x), len(c.Centre), func(lo, j, n int) {
		four.Sub(o.at(), begin(x, lo), begin(c.Centre, j), n)
		four.Mul(g.at(), o.at(), begin(c.Scale, j), n)
		four.Add(g.at(), g.at(), begin(c.Bias, j), n)
		four.ReLUSlope(g.at(), begin(dy, lo), g.at(), n, 0)
		four.Mul(o.at(), o.at(), g.at(), n)
		four.Add(begin(dots, j), begin(dots, j), o.at(), n)
		four.Add(begin(sums, j), begin(sums, j), g.at(), n)
	})
}

func standardiseFast(y, x, centre, scale, bias []Float, relu bool) bool {
	return parts(len(x), func(lo, n int) {
		to := begin(y, lo)
		four.Sub(to, begin(x, lo), begin(centre, lo), n)
		four.Mul(to, to, begin(scale, lo), n)
		if bias != nil {
			four.Add(to, to, begin(bias, lo), n)
		}
		if relu {
			four.ReLU(to, to, n)
		}
	})
}

func (c *ColumnSlopes) gradFast(dx, dy, x []Float, set bool) bool {
	return parts(len(x), func(lo, n int) {
		var o part
		four.Sub(o.at(), begin(x, lo), begin(c.Centre, lo), n)
		c.slope(&o, begin(dx, lo), begin(dy, lo), lo, n, set)
	})
}

func (c *ColumnSlopes) reluGradFast(dx, dy, x []Float, set bool) bool {
	return parts(len(x), func(lo, n int) {
		var o, g part
		four.Sub(o.at(), begin(x, lo), begin(c.Centre, lo), n)
		four.Mul(g.at(), o.at(), begin(c.OfDY, lo), n)
		four.Add(g.at(), g.at(), begin(c.Bias, lo), n)
		four.ReLUSlope(g.at(), begin(dy, lo), g.at(), n, 0)
		c.slope(&o, begin(dx, lo), g.at(), lo, n, set)
	})
}

// slope sets or adds to dx the gradient of a part, of which o is x less the centre and g the gradient of the result.
func (c *ColumnSlopes) slope(o *part, dx, g unsafe.Pointer, lo, n int, set bool) {
	four.Mul(o.at(), o.at(), begin(c.OfX, lo), n)
	if set {
		four.Add(dx, o.at(), begin(c.At0, lo), n)
	} else {
		four.Add(o.at(), o.at(), begin(c.At0, lo), n)
		four.Add(dx, dx, o.at(), n)
	}
	four.Mul(o.at(), g, begin(c.OfDY, lo), n)
	four.Add(dx, dx, o.at(), n)
}

// welfordFast leaves what is no whole four to plain Go.
func welfordFast(sum, mean, low, x []Float, count Float) bool {
	fours := len(x) &^ 3
	for lo := 0; lo < fours; lo += cpu.AtOnce {
		four.Welford(begin(sum, lo), begin(mean, lo), begin(low, lo), begin(x, lo), next(fours, lo), count)
	}
	if fours > 0 && fours < len(x) {
		Welford(sum[fours:], mean[fours:], low[fours:], x[fours:], int(count))
	}
	return fours > 0
}
