//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func centredSquaresFast(sums, x, centre []Float) bool {
	n := len(centre)
	step := max(cpu.AtOnce/n, 1)
	for ; len(x) > 0; x = x[min(step*n, len(x)):] {
		rows, j := min(step, len(x)/n), 0
		for ; n-j >= 32; j += 32 {
			centredSquares32AVX2(&sums[j], &x[j], &centre[j], rows, n)
		}
		for ; j < n; j += 8 {
			centredSquaresAVX2(&sums[j], &x[j], &centre[j], rows, n, min(8, n-j))
		}
	}
	return true
}

func centredDotsFast(dots, sums, dy, x, centre []Float) bool {
	n := len(centre)
	step := max(cpu.AtOnce/n, 1)
	for lo := 0; lo < len(x); lo += step * n {
		rows, j := min(step, (len(x)-lo)/n), 0
		for ; n-j >= 32; j += 32 {
			centredDots32AVX2(&dots[j], &sums[j], &dy[lo+j], &x[lo+j], &centre[j], rows, n)
		}
		for ; j < n; j += 8 {
			centredDotsAVX2(&dots[j], &sums[j], &dy[lo+j], &x[lo+j], &centre[j], rows, n, min(8, n-j))
		}
	}
	return true
}

func (c *Columns) reluDotsFast(dots, sums, dy, x []Float) bool {
	n := len(c.Centre)
	step := max(cpu.AtOnce/n, 1)
	for lo := 0; lo < len(x); lo += step * n {
		rows, j := min(step, (len(x)-lo)/n), 0
		for ; n-j >= 32; j += 32 {
			reluDots32AVX2(&dots[j], &sums[j], &dy[lo+j], &x[lo+j], &c.Centre[j], &c.Scale[j], &c.Bias[j], rows, n)
		}
		for ; j < n; j += 8 {
			reluDotsAVX2(&dots[j], &sums[j], &dy[lo+j], &x[lo+j], &c.Centre[j], &c.Scale[j], &c.Bias[j], rows, n, min(8, n-j))
		}
	}
	return true
}

func standardiseFast(y, x, centre, scale, bias []Float, relu bool) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		to, p, by, n := &y[lo], &x[lo], &scale[lo], min(cpu.AtOnce, len(x)-lo)
		switch {
		case bias == nil && relu:
			standardiseReLUAVX2(to, p, &centre[lo], by, n)
		case bias == nil:
			standardiseAVX2(to, p, &centre[lo], by, n)
		case relu:
			standardiseBiasReLUAVX2(to, p, &centre[lo], by, &bias[lo], n)
		default:
			standardiseBiasAVX2(to, p, &centre[lo], by, &bias[lo], n)
		}
	}
	return true
}

func (c *ColumnSlopes) gradFast(dx, dy, x []Float, set bool) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		to, g, p, n := &dx[lo], &dy[lo], &x[lo], min(cpu.AtOnce, len(x)-lo)
		if set {
			setStandardiseGradAVX2(to, g, p, &c.Centre[lo], &c.OfX[lo], &c.At0[lo], &c.OfDY[lo], n)
		} else {
			addStandardiseGradAVX2(to, g, p, &c.Centre[lo], &c.OfX[lo], &c.At0[lo], &c.OfDY[lo], n)
		}
	}
	return true
}

func (c *ColumnSlopes) reluGradFast(dx, dy, x []Float, set bool) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		to, g, p, n := &dx[lo], &dy[lo], &x[lo], min(cpu.AtOnce, len(x)-lo)
		if set {
			setStandardiseGradReLUAVX2(to, g, p, &c.Centre[lo], &c.OfX[lo], &c.At0[lo], &c.OfDY[lo], &c.Bias[lo], n)
		} else {
			addStandardiseGradReLUAVX2(to, g, p, &c.Centre[lo], &c.OfX[lo], &c.At0[lo], &c.OfDY[lo], &c.Bias[lo], n)
		}
	}
	return true
}
