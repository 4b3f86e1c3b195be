//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Means and sums of squares of rows that come one by one are those of all, to some roundings of float64's.
func TestWelford(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		n, rows := 4*rng.IntN(4), 1+rng.IntN(12)
		zero := func() float32 { return 0 }
		sum, mean, low := drawn(rng, n, zero), drawn(rng, n, zero), drawn(rng, n, zero)
		x := drawn(rng, rows*n, func() float32 { return float32(100 + rng.NormFloat64()) })
		for r := range rows {
			Welford(sum.at(0), mean.at(0), low.at(0), x.at(r*n), n, float32(r+1))
		}
		for _, a := range []*room{sum, mean, low} {
			a.intact(t, "Welford")
		}
		for j := range n {
			m, s := 0.0, 0.0
			for r := range rows {
				m += float64(x.x[r*n+j]) / float64(rows)
			}
			for r := range rows {
				s += (float64(x.x[r*n+j]) - m) * (float64(x.x[r*n+j]) - m)
			}
			got := float64(mean.x[j]) + float64(low.x[j])
			if math.Abs(got-m) > 1e-6 || math.Abs(float64(sum.x[j])-s) > 1e-5*(s+1) {
				t.Fatalf("Welford of %d rows: the mean %v with the sum %v, want %v with %v", rows, got, sum.x[j], m, s)
			}
		}
	})
}
