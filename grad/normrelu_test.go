package grad_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A batch norm and the ReLU after it have the bits as one pass that they have as two: of
// the result, of all gradients, the one of x added to another or set, and of the running
// statistics, on any number of threads; and the norm reads the gain that it was given.
func TestNormReLU(t *testing.T) {
	for _, rows := range []int{65, 5000} {
		var want [][]tensor.Float
		for _, waits := range []bool{false, true} {
			for _, threads := range append(sparing.Threads(), 1) {
				undo, back := grad.SetWaits(waits), par.SetThreads(threads)
				x, gain, bias := param(1, rows, 20), param(2, 20), param(3, 20)
				mean, variance := param(4, 20), param(5, 20)
				mean.Frozen, variance.Frozen = true, true
				tape := grad.NewTape(1)
				h := tape.Use(x).Scale(2)
				y := tape.BatchNorm(h, grad.Affine{Gain: tape.Use(gain), Bias: tape.Use(bias)}, &grad.RunningStats{Mean: mean, Variance: variance}, 1e-5)
				if waits {
					gain.Value.Data[3]++ // too late
				}
				z := y.ReLU()
				got := [][]tensor.Float{slices.Clone(z.Value().Data)}
				if waits {
					gain.Value.Data[3]--
				}
				for _, g := range tape.Backward(weigh(z).Add(weigh(h))) {
					got = append(got, slices.Clone(g.Value.Data))
				}
				got = append(got, mean.Value.Data, variance.Value.Data)
				back()
				undo()
				if want == nil {
					want = got
				}
				compare.Slices(t, fmt.Sprint(rows, " rows, joined ", waits, ", threads ", threads), got, want, compare.Exactly)
			}
		}
	}
}
