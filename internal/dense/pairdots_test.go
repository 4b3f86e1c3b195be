package dense_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestPairDots compares products of rows, of which each side has one for several of the
// other, with a plain loop.
func TestPairDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(65, 65))
	const a, b, d = 3, 4, 5
	for name, s := range map[string][2][]int{"same": {{a, b, 1}, {a, b, 1}}, "of each column": {{a, b, 1}, {b, 1}}, "crossed": {{a, 1, 1}, {1, b, 1}}} {
		at := func(shape []int, i, j int) int {
			shape = append([]int{1}, shape...)[len(shape)-2:]
			return i%shape[0]*shape[1] + j%shape[1]
		}
		x, y := random(rng, tensor.Size(s[0]...)*d), random(rng, tensor.Size(s[1]...)*d)
		dz, dx, dy := random(rng, a*b), random(rng, len(x)), random(rng, len(y))
		want := copied(make([]tensor.Float, a*b), dx, dy)
		for i := range a {
			for j := range b {
				p, q, k := at(s[0], i, j)*d, at(s[1], i, j)*d, i*b+j
				for c := range d {
					want[0][k] += x[p+c] * y[q+c]
					want[1][p+c] += dz[k] * y[q+c]
					want[2][q+c] += dz[k] * x[p+c]
				}
			}
		}
		got := copied(make([]tensor.Float, a*b), dx, dy)
		k := dense.PairDots{X: x, Y: y, D: d, Of: tensor.Pair(s[0], s[1], []int{a, b, 1})}
		k.Forward(got[0])
		k.Backward(got[1], nil, dz)
		k.Backward(nil, got[2], dz)
		compare.Near(t, name, slices.Concat(got...), slices.Concat(want...), rounded)
	}
}
