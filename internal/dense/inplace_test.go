package dense_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMatMulInPlace compares a product in place with one beside, to the bit, of sizes in
// one block and in several parts.
func TestMatMulInPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(62, 62))
	for _, s := range [][2]int{{1, 1}, {3, 5}, {33, 17}, {700, 32}, {5001, 31}, {20, 1030}} {
		n, d := s[0], s[1]
		x, w, want := tensor.Of(random(rng, n*d), n, d), tensor.Of(random(rng, d*d), d, d), tensor.New(n, d)
		tensor.MatMul(want, x, w, tensor.TransB)
		what := fmt.Sprintf("%d×%d", n, d)
		got := threaded(t, what, func() []tensor.Float {
			y := x.Clone()
			dense.MatMulInPlace(y, w)
			return y.Data
		})
		compare.Equal(t, what+": in place and beside", got, want.Data)
	}
}
