package vec

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

func TestKeepColumn(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 1))
	for n := range 100 {
		for _, p := range []float64{0, 0.1, 0.7, 1} {
			d, row, col := NewDropout(rng.Uint64(), 1, 2, p), rng.IntN(1<<20), rng.IntN(9)
			what := fmt.Sprintf("column %d of %d rows, p = %v", col, n, p)
			simdtest.Trial(t, what, 0, [][]Float{simdtest.Draw(n, simdtest.Some(rng))}, func(s [][]Float) { d.Column(s[0], row, col) })
			got, ones := make([]Float, n), make([]Float, n*10)
			for i := range ones {
				ones[i] = 1
			}
			d.Column(got, row, col)
			d.Set(ones, ones, row, 10)
			for i, v := range got {
				if v != ones[i*10+col] {
					t.Fatalf("%s: row %d has %v, by rows %v", what, i, v, ones[i*10+col])
				}
			}
		}
	}
}
