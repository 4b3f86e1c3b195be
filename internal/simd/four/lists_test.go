//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import (
	"math/rand/v2"
	"testing"
)

func TestScatter(t *testing.T) {
	each(t, 200, func(t *testing.T, rng *rand.Rand) {
		n, w, table := rng.IntN(6), 1+rng.IntN(40), 1+rng.IntN(5)
		rows, from := make([]int32, n), make([]uint16, rng.IntN(9))
		for i := range rows {
			rows[i] = rng.Int32N(int32(table))
		}
		for i := range from {
			from[i] = uint16(rng.IntN(max(n, 1)))
		}
		dst, src := drawn(rng, n*w, positive(rng)), drawn(rng, table*w, positive(rng))
		if n == 0 {
			return
		}
		want := append([]float32(nil), src.x...)
		for _, k := range from {
			for j := range w {
				want[int(rows[k])*w+j] += dst.x[int(k)*w+j]
			}
		}
		Scatter(src.at(0), dst.at(0), begin(rows), begin(from), len(from), w)
		src.intact(t, "Scatter")
		near(t, named("Scatter of %d rows of %d", len(from), w), src.x, wide(want), 0)
	})
}
