//go:build !noasm && !f64

package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

func welfordFast(sum, mean, low, x []Float, rows Float) bool {
	for lo := 0; lo < len(x); lo += cpu.AtOnce {
		welfordAVX2(&sum[lo], &mean[lo], &low[lo], &x[lo], min(cpu.AtOnce, len(x)-lo), rows)
	}
	return true
}
