//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// product is the twin of the tiles.
func product[F number](c, a, b []F, m, n, k, rs, cs, ldb, ldc int, set bool) {
	for i := range m {
		for j := range n {
			s := c[i*ldc+j]
			if set {
				s = 0
			}
			for l := range k {
				s += a[i*rs+l*cs] * b[l*ldb+j]
			}
			c[i*ldc+j] = s
		}
	}
}

func TestTiles(t *testing.T) {
	for _, tile := range []struct {
		name              string
		rows, least, most int
		f                 func(c, a, b unsafe.Pointer, n, k, r1, r2, r3, cs, ldb, s1, s2, s3, set int)
	}{
		{"Tile4x16", 4, 8, 16, Tile4x16},
		{"Tile4x8", 4, 4, 8, Tile4x8},
		{"Tile4x1", 4, 1, 1, func(c, a, b unsafe.Pointer, _, k, r1, r2, r3, cs, ldb, s1, s2, s3, set int) {
			Tile4x1(c, a, b, k, r1, r2, r3, cs, ldb, s1, s2, s3, set)
		}},
		{"Tile1x32", 1, 16, 32, func(c, a, b unsafe.Pointer, n, k, _, _, _, cs, ldb, _, _, _, set int) {
			Tile1x32(c, a, b, n, k, cs, ldb, set)
		}},
	} {
		each(t, 200, func(t *testing.T, rng *rand.Rand) {
			m, n, k, set := 1+rng.IntN(tile.rows), tile.least+rng.IntN(tile.most-tile.least+1), rng.IntN(20), rng.IntN(2)
			rs, cs := k+rng.IntN(3), 1
			if rng.IntN(2) == 0 {
				rs, cs = 1, m+rng.IntN(3)
			}
			ldb, ldc := n+rng.IntN(3), n+rng.IntN(3)
			a, b, c := drawn(rng, m*rs+k*cs, positive(rng)), drawn(rng, k*ldb, positive(rng)), drawn(rng, m*ldc, positive(rng))
			want := wide(c.x)
			product(want, wide(a.x), wide(b.x), m, n, k, rs, cs, ldb, ldc, set == 1)
			row := func(i, stride int) int { return 4 * stride * min(i, m-1) }
			tile.f(c.at(0), a.at(0), b.at(0), n, k, row(1, rs), row(2, rs), row(3, rs), 4*cs, 4*ldb, row(1, ldc), row(2, ldc), row(3, ldc), set)
			what := named("%s: %d x %d x %d", tile.name, m, n, k)
			c.intact(t, what)
			near(t, what, c.x, want, float64(2*k+2))
		})
	}
}
