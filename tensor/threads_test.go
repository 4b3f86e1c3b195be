package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMatMulThreads shows that no bit of a product depends on the threads.
func TestMatMulThreads(t *testing.T) {
	for i, s := range sparing.Some([][3]int{
		{301, 90, 257}, {300, 200, 130}, {97, 5000, 33}, {1, 700, 1100}, {97, 3000, 33}, {200, 4200, 16}, {64, 128, 512}, {61, 100, 1200}, {2000, 500, 7}, {130, 4100, 70}, {16, 4100, 300}, {520, 70, 530},
	}) {
		for j, f := range sparing.Some(flags) {
			if (i+j)%2 != 0 && !sparing.Full() {
				continue // the next shape has these
			}
			rng := rand.New(rand.NewPCG(1, 2))
			a, b := operands(rng, s[0], s[1], s[2], f)
			e := tensor.Epilogue{Bias: random(rng, s[2]), Act: tensor.Activate(tensor.Unary(vec.Sigmoid), 0)}
			onThreads(t, fmt.Sprintf("%v flags %d", s, f), func() *tensor.Dense {
				y := tensor.New(s[0], s[2])
				tensor.MatMul(y, a, b, f)
				return y
			})
			onThreads(t, fmt.Sprintf("%v flags %d then", s, f), func() *tensor.Dense {
				y := tensor.New(s[0], s[2])
				tensor.MatMulPackedThen(y, a, tensor.Pack(b, f), f, e)
				return y
			})
		}
	}
}

// TestBatchMatMulThreads does the same for a batch of small and of large
// products.
func TestBatchMatMulThreads(t *testing.T) {
	for _, s := range sparing.Some([][4]int{{50, 16, 8, 16}, {7, 64, 64, 80}, {3, 240, 200, 200}, {2, 30, 4200, 40}}) {
		for _, f := range sparing.Some(flags) {
			rng := rand.New(rand.NewPCG(3, 2))
			a, b := operands(rng, s[1]*s[0], s[2], s[3]*s[0], 0)
			x, y := a.Reshape(s[0], s[1], s[2]), b.Reshape(s[0], s[2], s[3])
			if f&tensor.TransA != 0 {
				x = a.Reshape(s[0], s[2], s[1])
			}
			if f&tensor.TransB != 0 {
				y = b.Reshape(s[0], s[3], s[2])
			}
			onThreads(t, fmt.Sprintf("batch %v flags %d", s, f), func() *tensor.Dense {
				z := tensor.New(s[0], s[1], s[3])
				tensor.BatchMatMul(z, x, y, f)
				return z
			})
		}
	}
}

// onThreads compares what f returns on one thread and on several.
func onThreads(t *testing.T, what string, f func() *tensor.Dense) {
	t.Helper()
	on := func(threads int) *tensor.Dense {
		defer par.SetThreads(threads)()
		return f()
	}
	want := on(1)
	for _, threads := range append(sparing.Threads(), 2, 16, 33) {
		compare.Equal(t, fmt.Sprintf("%s on %d threads", what, threads), on(threads).Data, want.Data)
	}
}
