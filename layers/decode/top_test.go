package decode

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// The largest are those of a sort, equal ones by their place, and −Inf never.
func TestLargest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var kept top
	var buf []choice
	for range 300 {
		x := make([]tensor.Float, rng.IntN(900))
		for i := range x {
			switch x[i] = tensor.Float(rng.NormFloat64()); rng.IntN(4) {
			case 0:
				x[i] = tensor.Float(rng.IntN(3))
			case 1:
				x[i] = tensor.Float(math.Inf(-1))
			}
		}
		n := rng.IntN(20)
		var want []choice
		for i, v := range x {
			if v > negInf {
				want = append(want, choice{score: float64(v), token: int32(i)})
			}
		}
		slices.SortStableFunc(want, func(a, b choice) int {
			if a.score > b.score {
				return -1
			} else if a.score < b.score {
				return 1
			}
			return 0
		})
		want = want[:min(n, len(want))]
		kept.survey(x)
		if buf = kept.largest(x, n, buf); !slices.Equal(buf, want) {
			t.Fatalf("%d of %v: got %v, want %v", n, x, buf, want)
		}
	}
}
