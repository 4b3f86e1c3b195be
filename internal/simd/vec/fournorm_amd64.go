//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func fourMomentsFast(x []Float, shift Float) (sum, squares float64, done int) {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		s, q := fourMomentsAVX2(&x[lo], min(cpu.AtOnce, len(x)-lo), shift)
		sum, squares = sum+s, squares+q
	}
	return sum, squares, len(x)
}

func normaliseBothFast(y, bias []Float, a, b NormRow) bool {
	x, gain, x2, gain2 := a.X[:len(y)], a.Gain[:len(y)], b.X[:len(y)], b.Gain[:len(y)]
	if bias != nil {
		bias = bias[:len(y)]
	}
	for lo := 0; lo < len(y); lo += cpu.AtOnce {
		n := min(cpu.AtOnce, len(y)-lo)
		if bias != nil {
			normaliseBothBiasAVX2(&y[lo], &x[lo], &gain[lo], &x2[lo], &gain2[lo], &bias[lo], n, a.Mean, a.Rest, a.Scale, b.Mean, b.Rest, b.Scale)
		} else {
			normaliseBothAVX2(&y[lo], &x[lo], &gain[lo], &x2[lo], &gain2[lo], n, a.Mean, a.Rest, a.Scale, b.Mean, b.Rest, b.Scale)
		}
	}
	return true
}

func fourGradSumsFast(gain, bias, dy []Float, r NormRow) (sum, dot float64, done int) {
	dgain, x, by := gain[:len(dy)], r.X[:len(dy)], r.Gain[:len(dy)]
	if bias != nil {
		bias = bias[:len(dy)]
	}
	for lo := 0; lo < len(dy); lo += cpu.AtOnce {
		var s, d float64
		n := min(cpu.AtOnce, len(dy)-lo)
		if bias != nil {
			s, d = fourGradSumsBiasAVX2(&dgain[lo], &bias[lo], &dy[lo], &x[lo], &by[lo], n, r.Mean, r.Rest, r.Scale)
		} else {
			s, d = fourGradSumsAVX2(&dgain[lo], &dy[lo], &x[lo], &by[lo], n, r.Mean, r.Rest, r.Scale)
		}
		sum, dot = sum+s, dot+d
	}
	return sum, dot, len(dy)
}

func fourGradFast(dx, dy []Float, r NormRow, of Line, set bool) bool {
	dx, x, gain := dx[:len(dy)], r.X[:len(dy)], r.Gain[:len(dy)]
	kernel := fourGradAddAVX2
	if set {
		kernel = fourGradSetAVX2
	}
	for lo := 0; lo < len(dy); lo += cpu.AtOnce {
		kernel(&dx[lo], &dy[lo], &x[lo], &gain[lo], min(cpu.AtOnce, len(dy)-lo), r.Mean, r.Rest, r.Scale, of.Slope, of.At0)
	}
	return true
}
