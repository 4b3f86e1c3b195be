package sparse_test

import (
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/sparse"
)

// Dropping the nonzeros is dropping the elements of the dense matrix.
func TestDropValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, p := range []float64{0, 0.5, 0.9, 1} {
		for _, weighted := range []bool{true, false} {
			a := random(rng, 20, 30, 200, weighted)
			x := a.Dense()
			d := simd.NewDropout(1, 2, 3, p)
			dst, kept := make([]float, a.NNZ()), 0
			sparse.DropValues(dst, a, &d)
			for i := range a.NumRows {
				for j := range x.Row(i) {
					if d.Keep(d.Row(i), j) {
						x.Row(i)[j] *= float(d.Scale)
					} else {
						x.Row(i)[j] = 0
					}
				}
			}
			for _, v := range dst {
				if v != 0 {
					kept++
				}
			}
			// How many are kept is the hash's affair; that it is some is ours.
			if all, none := kept == a.NNZ(), kept == 0; all != (p == 0) || none != (p == 1) {
				t.Errorf("p = %v: kept %d of %d", p, kept, a.NNZ())
			}
			a.Values = dst
			near(t, "DropValues", a.Dense(), float64s(x))
		}
	}
}

func TestDropValuesNone(t *testing.T) {
	a := random(rand.New(rand.NewPCG(10, 10)), 5, 5, 10, true)
	dst := make([]float, a.NNZ())
	sparse.DropValues(dst, a, nil)
	for k, v := range dst {
		if v != a.Values[k] {
			t.Errorf("value %d is %v, want %v", k, v, a.Values[k])
		}
	}
}
