package grad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// elements is the number of elements of a shape, 1 of none.
func elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// TestLogSumExp compares both forms with the sum that they are named after.
func TestLogSumExp(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for _, shape := range [][]int{{1}, {7}, {4, 3}, {1, 300}, {2, 3, 4}, {2, 3, 4, 5}} {
		x := random(rng, shape...)
		for axis := range shape {
			outer, inner := elements(shape[:axis]), elements(shape[axis+1:])
			want := make([]float64, outer*inner)
			for k := range want {
				sum := 0.0
				for i := range shape[axis] {
					sum += math.Exp(float64(x.Data[(k/inner*shape[axis]+i)*inner+k%inner]))
				}
				want[k] = math.Log(sum)
			}
			left := append(slices.Clone(shape[:axis]), shape[axis+1:]...)
			if len(left) == 0 {
				left = []int{1}
			}
			compare.Shaped(t, fmt.Sprint("along axis ", axis, " of ", shape), grad.Const(x).LogSumExpAxis(axis).Value(), left, want, rounded)
			if axis == len(shape)-1 {
				kept := append(slices.Clone(shape[:axis]), 1)
				compare.Shaped(t, fmt.Sprint("along the last of ", shape), grad.Const(x).LogSumExp().Value(), kept, want, rounded)
			}
		}
	}
}

// Infinities have limits, and gradients that are none of them.
func TestLogSumExpEnds(t *testing.T) {
	inf := math.Inf(1)
	p := grad.NewParam(5, 2)
	for i, v := range []float64{-inf, -inf, inf, inf, inf, 1, -inf, 3, math.NaN(), 1} {
		p.Value.Data[i] = tensor.Float(v)
	}
	tape := grad.NewTape(1)
	y := tape.Use(p).LogSumExp()
	dx := tape.Backward(y.Rows([]int32{0, 1, 2, 3}).Sum())[0].Value
	for i, v := range []float64{-inf, inf, inf, 3, math.NaN()} {
		if got := float64(y.Value().Data[i]); got != v && !(math.IsNaN(got) && math.IsNaN(v)) {
			t.Errorf("row %d is %v, want %v", i, got, v)
		}
	}
	for i, v := range []tensor.Float{0, 0, 0.5, 0.5, 1, 0, 0, 1} {
		if dx.Data[i] != v {
			t.Errorf("element %d has the gradient %v, want %v", i, dx.Data[i], v)
		}
	}
	if got := grad.Const(tensor.New(0, 3)).LogSumExp().Shape(); !slices.Equal(got, []int{0, 1}) {
		t.Errorf("of no rows it has the shape %v", got)
	}
	if got := grad.Const(tensor.New(2, 0)).LogSumExp().Value().Data; !math.IsInf(float64(got[0]), -1) {
		t.Errorf("of nothing it is %v", got)
	}
}

// No bit depends on the number of threads.
func TestLogSumExpThreads(t *testing.T) {
	p := param(3, 700, 33)
	run := func() []*tensor.Dense {
		tape := grad.NewTape(1)
		y := tape.Use(p).LogSumExp()
		return []*tensor.Dense{y.Value(), tape.Backward(weigh(y))[0].Value}
	}
	want := run()
	for _, threads := range append(sparing.Threads(), 1) {
		undo := par.SetThreads(threads)
		for i, got := range run() {
			if !slices.Equal(got.Data, want[i].Data) {
				t.Errorf("%d threads: array %d differs", threads, i)
			}
		}
		undo()
	}
}
