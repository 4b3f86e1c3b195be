package report

import (
	"math"
	"time"
)

// Milliseconds returns d in milliseconds, to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// MeanStd returns the mean and the sample's standard deviation, 0 of one.
func MeanStd(xs []float64) (mean, std float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	if len(xs) < 2 {
		return mean, 0
	}
	for _, x := range xs {
		std += (x - mean) * (x - mean)
	}
	return mean, math.Sqrt(std / float64(len(xs)-1))
}

// HalfWidth returns half the width of the 95 % confidence interval of a mean of
// n numbers with that standard deviation, by Student's distribution; 0 of one.
func HalfWidth(n int, std float64) float64 {
	if n < 2 {
		return 0
	}
	return student95(n-1) * std / math.Sqrt(float64(n))
}

// student95 returns the 97.5 % quantile of Student's distribution. From four
// degrees of freedom on it is the expansion around the normal distribution's,
// good to 0.3 %.
func student95(freedom int) float64 {
	if few := [...]float64{12.7062, 4.3027, 3.1824}; freedom <= len(few) {
		return few[freedom-1]
	}
	const z = 1.959964
	v := float64(freedom)
	z2 := z * z
	g1 := z * (z2 + 1) / 4
	g2 := z * ((5*z2+16)*z2 + 3) / 96
	g3 := z * (((3*z2+19)*z2+17)*z2 - 15) / 384
	return z + g1/v + g2/(v*v) + g3/(v*v*v)
}
