//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// offsetRows is how many rows offsetSquaresAVX2 takes at once, and dotRows offsetDotsAVX2.
const (
	offsetRows = 4
	dotRows    = 2
)

// group returns where the next rows of a kernel that takes so many at once begin. The last
// ones overlap those before; where there are too few, one row stands for all.
func group(i, at, rows int) (first int, alone bool) {
	if rows < at {
		return i, true
	}
	return min(i, rows-at), false
}

func offsetSquaresFast(sums []float64, of OffsetRows) bool {
	x, d, rows := of.X, of.width(), len(of.Mean)
	sums, whole := sums[:rows], d&^3
	for i, step := 0, 0; i < rows; i += step {
		first, alone := group(i, offsetRows, rows)
		var four [offsetRows][4]float64
		m, r, stride := [offsetRows]Float{of.Mean[first]}, [offsetRows]Float{of.Rest[first]}, 0
		if step = 1; !alone {
			step, stride = offsetRows, d
			copy(m[:], of.Mean[first:])
			copy(r[:], of.Rest[first:])
		}
		for lo := 0; lo < whole; lo += cpu.AtOnce {
			offsetSquaresAVX2(&four[0][0], &x[first*d+lo], stride, min(cpu.AtOnce, whole-lo), &m[0], &r[0])
		}
		for k := range step {
			for _, v := range x[(first+k)*d+whole : (first+k)*d+d] {
				e := float64(v - m[k] - r[k])
				four[k][0] += e * e
			}
			sums[first+k] = folded(four[k])
		}
	}
	return true
}

func offsetDotsFast(sums []float64, g, dy, gain []Float, of OffsetRows) bool {
	x, d, rows := of.X, of.width(), len(of.Mean)
	sums, dy = sums[:rows], dy[:len(x)]
	whole := d &^ 3
	if gain != nil {
		g, gain = g[:len(x)], gain[:d]
	}
	for i, step := 0, 0; i < rows; i += step {
		first, alone := group(i, dotRows, rows)
		var four [dotRows][4]float64
		m, r, stride := [dotRows]Float{of.Mean[first]}, [dotRows]Float{of.Rest[first]}, 0
		if step = 1; !alone {
			step, stride = dotRows, d
			copy(m[:], of.Mean[first:])
			copy(r[:], of.Rest[first:])
		}
		for lo := 0; lo < whole; lo += cpu.AtOnce {
			at, n := first*d+lo, min(cpu.AtOnce, whole-lo)
			if gain != nil {
				offsetGainDotsAVX2(&four[0][0], &g[at], &dy[at], &x[at], &gain[lo], stride, n, &m[0], &r[0])
			} else {
				offsetDotsAVX2(&four[0][0], &dy[at], &x[at], stride, n, &m[0], &r[0])
			}
		}
		for k := range step {
			for j := whole; j < d; j++ {
				at := (first+k)*d + j
				e := dy[at]
				if gain != nil {
					e *= gain[j]
					g[at] = e
				}
				four[k][0] += float64(e) * float64(x[at]-m[k]-r[k])
			}
			sums[first+k] = folded(four[k])
		}
	}
	return true
}

func normaliseFast(y, x, gain, with []Float, m Moments) bool {
	y = y[:len(x)]
	if gain != nil {
		gain = gain[:len(x)]
	}
	if with != nil {
		with = with[:len(x)]
	}
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		to, p, n := &y[lo], &x[lo], min(cpu.AtOnce, len(x)-lo)
		switch {
		case gain == nil && with == nil:
			normaliseAVX2(to, p, n, m.Mean, m.Rest, m.Scale)
		case gain == nil:
			normaliseWithAVX2(to, p, &with[lo], n, m.Mean, m.Rest, m.Scale)
		case with == nil:
			normaliseGainAVX2(to, p, &gain[lo], n, m.Mean, m.Rest, m.Scale)
		default:
			normaliseGainWithAVX2(to, p, &gain[lo], &with[lo], n, m.Mean, m.Rest, m.Scale)
		}
	}
	return true
}

func normaliseGradFast(dx, g, x []Float, m Moments, of Line, set bool) bool {
	dx, g = dx[:len(x)], g[:len(x)]
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		n := min(cpu.AtOnce, len(x)-lo)
		if set {
			setNormaliseGradAVX2(&dx[lo], &g[lo], &x[lo], n, m.Mean, m.Rest, m.Scale, of.Slope, of.At0)
		} else {
			addNormaliseGradAVX2(&dx[lo], &g[lo], &x[lo], n, m.Mean, m.Rest, m.Scale, of.Slope, of.At0)
		}
	}
	return true
}

func normaliseSumsFast(gain, bias, x, dy []Float, m Moments) bool {
	gain, dy = gain[:len(x)], dy[:len(x)]
	if bias != nil {
		bias = bias[:len(x)]
	}
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		n := min(cpu.AtOnce, len(x)-lo)
		if bias != nil {
			normaliseSumsAVX2(&gain[lo], &bias[lo], &x[lo], &dy[lo], n, m.Mean, m.Rest, m.Scale)
		} else {
			normaliseGainSumAVX2(&gain[lo], &x[lo], &dy[lo], n, m.Mean, m.Rest, m.Scale)
		}
	}
	return true
}
