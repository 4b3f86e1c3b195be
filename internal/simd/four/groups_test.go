//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"testing"
)

func TestSpread(t *testing.T) {
	each(t, 200, func(t *testing.T, rng *rand.Rand) {
		groups, n, add := rng.IntN(5), rng.IntN(30), rng.IntN(2)
		pos := positive(rng)
		y, c, x := drawn(rng, groups*n, pos), drawn(rng, groups, pos), drawn(rng, groups*n, pos)
		at := x.at(0)
		if rng.IntN(2) == 0 {
			at = nil
		}
		want := wide(y.x)
		for i, v := range x.x {
			u := float64(v)
			if at == nil {
				u = 1
			}
			want[i] = float64(add)*want[i] + float64(c.x[i/n])*u
		}
		Spread(y.at(0), c.at(0), at, groups, n, add)
		y.intact(t, "Spread")
		near(t, "Spread", y.x, want, 2)
	})
}
