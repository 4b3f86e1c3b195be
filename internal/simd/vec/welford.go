package vec

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Welford takes the n-th row x into the mean of the rows, mean + low, and the sum of
// squared distances from it. A mean in one number would be off by its rounding at
// every row: the distances from it would not add up to zero, which gradients show
// where they are small beside the mean. The others are zero before the first row.
func Welford(sum, mean, low, x []Float, n int) {
	sum, mean, low = sum[:len(x)], mean[:len(x)], low[:len(x)]
	if cpu.Fast && welfordFast(sum, mean, low, x, Float(n)) {
		return
	}
	for j, v := range x {
		d := v - mean[j] - low[j]
		e := d / Float(n)
		m := mean[j] + e
		took := m - mean[j]
		low[j] += (mean[j] - (m - took)) + (e - took) // what the sum of the two has lost
		mean[j] = m
		sum[j] += d * (v - m - low[j])
	}
}
