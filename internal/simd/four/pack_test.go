//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPacking(t *testing.T) {
	each(t, 100, func(t *testing.T, rng *rand.Rand) {
		rows, n := rng.IntN(6), 4+rng.IntN(20)
		turn := rng.IntN(2) == 0
		tos, froms := n+rng.IntN(3), n+rng.IntN(3)
		if turn {
			rows, n, tos, froms = 4, 4*rng.IntN(4), 4+rng.IntN(3), 16+rng.IntN(3)
		}
		to, from := drawn(rng, max(rows, n)*tos, normal(rng)), drawn(rng, rows*froms, normal(rng))
		want := slices.Clone(to.x)
		for i := range rows {
			for j := range n {
				if turn {
					want[j*tos+i] = from.x[i*froms+j]
				} else {
					want[i*tos+j] = from.x[i*froms+j]
				}
			}
		}
		if turn {
			Turn4(to.at(0), from.at(0), n, 4*tos, 4*froms)
		} else {
			CopyRows(to.at(0), from.at(0), rows, n, 4*tos, 4*froms)
		}
		to.intact(t, "packing")
		if !slices.Equal(to.x, want) {
			t.Fatalf("%d rows of %d, turned %v: %v, want %v", rows, n, turn, to.x, want)
		}
	})
}
