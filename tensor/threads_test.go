package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMatMulThreads shows that no bit of a product depends on the threads.
func TestMatMulThreads(t *testing.T) {
	for _, c := range []struct {
		m, k, n int
		f       tensor.Flags
	}{
		{300, 200, 130, 0}, {301, 90, 257, tensor.TransB}, {97, 5000, 33, tensor.TransA}, {64, 128, 512, 0}, {2000, 500, 7, 0},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		a, b := operands(rng, c.m, c.k, c.n, c.f)
		product := func(threads int) *tensor.Dense {
			defer par.SetThreads(threads)()
			y := tensor.New(c.m, c.n)
			tensor.MatMul(y, a, b, c.f)
			return y
		}
		want := product(1)
		for _, threads := range []int{2, 3, 8} {
			same(t, fmt.Sprintf("%dx%dx%d on %d threads", c.m, c.k, c.n, threads), product(threads).Data, want.Data)
		}
	}
}
