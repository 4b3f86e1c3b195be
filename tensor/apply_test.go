package tensor

import (
	"fmt"
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// TestApply compares functions, sums and products with loops over more elements
// than one chunk has.
func TestApply(t *testing.T) {
	for _, n := range []int{0, 1, 70_001} {
		x, y, dy := rough(1, n), New(n), rough(2, n)
		Apply(y, x, Unary(vec.Tanh), 0)
		zeros, set := New(n), rough(3, n)
		ApplyGrad(zeros, dy, x, y, Unary(vec.Tanh), 0)
		SetGrad(set, dy, x, y, Unary(vec.Tanh), 0)
		compare.Near(t, "a gradient that is set, and one added to zeros", set.Data, zeros.Data, same)
		dx, scaled, product := rough(3, n), rough(3, n), rough(3, n)
		ApplyGrad(dx, dy, x, y, Unary(vec.Tanh), 0)
		scaled.AddScaled(x, 0.5)
		MulAdd(product, x, dy)
		before, sum := rough(3, n), 0.0
		wants := [4][]float64{}
		for i, v := range x.Data {
			f, b, g := math.Tanh(float64(v)), float64(before.Data[i]), float64(dy.Data[i])
			sum += float64(v)
			for k, w := range [4]float64{f, b + g*(1-f*f), b + float64(v)/2, b + float64(v)*g} {
				wants[k] = append(wants[k], w)
			}
		}
		compare.Near(t, "Apply", y.Data, wants[0], rounded)
		compare.Near(t, "ApplyGrad", dx.Data, wants[1], rounded)
		compare.Near(t, "AddScaled", scaled.Data, wants[2], rounded)
		compare.Near(t, "MulAdd", product.Data, wants[3], rounded)
		if got := Sum64(x); math.Abs(got-sum) > 1e-9 {
			t.Errorf("the sum of %d is %v, want %v", n, got, sum)
		}
	}
}

// TestDropoutChunks compares with the mask, element by element, and shows that
// what is added is what is set.
func TestDropoutChunks(t *testing.T) {
	for _, shape := range [][]int{{0, 3}, {3, 0}, {1, 7}, {700, 65}, {3, 40_000}, {70, 9, 31}} {
		x := rough(1, shape...)
		for _, p := range []float64{0, 0.4, 1} {
			mask := NewMask(5, 6, 7, p)
			set, added, width := rough(2, shape...), rough(2, shape...), x.RowLen()
			Dropout(set, x, &mask)
			DropoutAdd(added, x, &mask)
			before := rough(2, shape...)
			for i, v := range x.Data {
				want := Float(0)
				if mask.Keeps(i/width, i%width) {
					want = v * Float(mask.Scale)
				}
				if set.Data[i] != want || math.Abs(float64(added.Data[i]-before.Data[i]-want)) > 1e-6 {
					t.Fatalf("%v, p = %v: element %d is %v and adds %v, want %v", shape, p, i, set.Data[i], added.Data[i]-before.Data[i], want)
				}
			}
			Dropout(x, x, &mask)
			compare.Near(t, fmt.Sprintf("%v, p = %v, in place", shape, p), x.Data, set.Data, same)
			x = rough(1, shape...)
		}
	}
}

func TestApplyRefused(t *testing.T) {
	x, y := New(2, 3), New(3, 2)
	mask := NewMask(1, 1, 1, 0.5)
	refused(t, "tensor.Tanh: cannot take shape [2 3] with [3 2]", func() { Apply(y, x, Unary(vec.Tanh), 0) })
	refused(t, "tensor.Tanh: cannot take shape [2 3] with [2 3]: the destination overlaps an operand", func() { ApplyGrad(x, y.Reshape(2, 3), x, x, Unary(vec.Tanh), 0) })
	refused(t, "tensor.MulAdd: cannot take shape [3 2] with [2 3]", func() { MulAdd(x, y, y) })
	refused(t, "tensor.AddScaled: cannot take shape [2 3] with [3 2]", func() { x.AddScaled(y, 1) })
	refused(t, "tensor.Dropout: cannot take shape [2 3] with [3 2]", func() { Dropout(y, x, &mask) })
	refused(t, "tensor.DropoutAdd: cannot take shape [2 3] with [2 3]: the destination overlaps an operand", func() { DropoutAdd(x, x, &mask) })
	refused(t, "tensor.SoftmaxGrad: cannot take shape [3 2] with [2 3]", func() { SoftmaxGrad(x, y, x) })
	refused(t, "tensor.Mul: cannot take shape [2 3] with [3 2] with [2 3] with [2 3]", func() { CombineGradX(New(2, 3), New(2, 3), x, y, Binary(vec.Mul)) })
}
