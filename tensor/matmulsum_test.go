package tensor_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// A long column of equal numbers, whose sum a chain of additions would lose.
func TestMatMulSumLong(t *testing.T) {
	const k = 1 << 18 // float32 loses 0.01 % in a chain of an eighth of it, a part
	a, b, sums := tensor.New(k, 2), tensor.New(k, 16), tensor.New(16)
	b.Fill(0.1)
	tensor.MatMulSum(tensor.New(2, 16), a, b, true, sums)
	for j, v := range sums.Data {
		if d := float64(v)/(0.1*k) - 1; d > 1e-5 || d < -1e-5 {
			t.Fatalf("column %d sums to %v, want %v", j, v, 0.1*k)
		}
	}
}

// TestMatMulSum compares it with the product and the sum apart, on any number of
// threads.
func TestMatMulSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 1))
	for _, size := range sparing.Some([][3]int{ // of a's columns, b's columns and both's rows
		{0, 3, 5}, {3, 0, 5}, {3, 4, 0}, {1, 1, 1}, {1, 1, 2048}, {5, 7, 100}, {64, 1, 5000}, {64, 7, 4100},
		{9, 24, 5000}, {128, 64, 5000}, {40, 64, 2047}, {64, 33, 17000}, {7, 600, 4096}, {7, 600, 3000},
		{130, 70, 4100}, {16, 300, 4200}, {96, 128, 2100},
	}) {
		m, n, k := size[0], size[1], size[2]
		a, b, was, sums := tensor.New(k, m), tensor.New(k, n), tensor.New(m, n), tensor.New(n)
		for _, x := range []*tensor.Dense{a, b, was, sums} {
			copy(x.Data, random(rng, x.Shape()...).Data)
		}
		for _, set := range []bool{false, true} {
			want, column := was.Clone(), make([]float64, n)
			if set {
				want.Zero()
			}
			tensor.MatMul(want, a, b, tensor.TransA)
			for i, v := range b.Data {
				column[i%n] += float64(v)
			}
			var first *tensor.Dense
			for _, threads := range []int{1, 2, 3, 16, 33} {
				what := fmt.Sprintf("%v, set %v, %d threads", size, set, threads)
				undo := par.SetThreads(threads)
				got, s := was.Clone(), sums.Clone()
				tensor.MatMulSum(got, a, b, set, s)
				undo()
				if first == nil {
					first = s
				}
				for i := range want.Data {
					if got.Data[i] != want.Data[i] {
						t.Fatalf("%s: the product at %d is %v, want %v", what, i, got.Data[i], want.Data[i])
					}
				}
				for j, v := range s.Data {
					if v != first.Data[j] {
						t.Fatalf("%s: column %d sums to %v, on one thread %v", what, j, v, first.Data[j])
					}
					if d := float64(v) - float64(sums.Data[j]) - column[j]; d > 1e-2 || d < -1e-2 {
						t.Fatalf("%s: column %d is %v off", what, j, d)
					}
				}
			}
		}
	}
}

func TestMatMulSumShapes(t *testing.T) {
	a, b, c := tensor.New(5, 3), tensor.New(5, 4), tensor.New(3, 4)
	for what, f := range map[string]func(){
		"sums of another length": func() { tensor.MatMulSum(c, a, b, true, tensor.New(3)) },
		"another product":        func() { tensor.MatMulSum(tensor.New(4, 3), a, b, true, tensor.New(4)) },
		"sums within b":          func() { tensor.MatMulSum(c, a, b, true, tensor.Of(b.Data[:4], 4)) },
	} {
		if _, ok := tensor.Try(f).(*tensor.ShapeError); !ok {
			t.Errorf("%s: no ShapeError", what)
		}
	}
}
