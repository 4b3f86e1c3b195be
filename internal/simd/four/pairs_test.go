//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"testing"
)

// dotPairs is the twin of DotPairs8, for one of the two.
func dotPairs[F number](l, x, a []F, rows, heads, width, stride, xs int) {
	for i := range rows {
		for h := range heads {
			var s F
			for j, v := range a[h*width : h*width+width] {
				s += x[i*xs+h*width+j] * v
			}
			l[i*stride+h] = s
		}
	}
}

func TestDotPairs8(t *testing.T) {
	each(t, 60, func(t *testing.T, rng *rand.Rand) {
		rows, stride, xs := rng.IntN(9), 4+rng.IntN(3), 32+rng.IntN(3)
		pos := positive(rng)
		x, a, b := drawn(rng, rows*xs, pos), drawn(rng, 32, pos), drawn(rng, 32, pos)
		l, r := drawn(rng, rows*stride, pos), drawn(rng, rows*stride, pos)
		wantL, wantR := wide(l.x), wide(r.x)
		dotPairs(wantL, wide(x.x), wide(a.x), rows, 4, 8, stride, xs)
		dotPairs(wantR, wide(x.x), wide(b.x), rows, 4, 8, stride, xs)
		DotPairs8(l.at(0), r.at(0), x.at(0), a.at(0), b.at(0), rows, 4*stride, 4*xs)
		l.intact(t, "DotPairs8")
		r.intact(t, "DotPairs8")
		near(t, "DotPairs8, l", l.x, wantL, 9)
		near(t, "DotPairs8, r", r.x, wantR, 9)
	})
}
