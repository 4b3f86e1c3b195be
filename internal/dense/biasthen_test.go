package dense_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestBiasThen compares a bias and what follows it with a plain loop, of one row, of rows
// in a block and of many parts, into gradients that hold something and that hold nothing.
func TestBiasThen(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 63))
	drop := vec.NewDropout(3, 1, 0, 0.4)
	for _, s := range [][2]int{{0, 3}, {1, 5}, {7, 1}, {40, 33}, {3000, 7}, {9001, 31}} {
		rows, width := s[0], s[1]
		x, dy, start, b, startB := random(rng, rows*width), random(rng, rows*width), random(rng, rows*width), random(rng, width), random(rng, width)
		small(dy)
		for name, k := range map[string]dense.BiasThen{
			"alone": {B: b}, "ReLU": {B: b, F: vec.ReLU, On: true},
			"ELU and dropout": {B: b, Drop: &drop},
		} {
			for _, set := range []bool{false, true} {
				if rows > 9000 && set != k.On && !sparing.Full() {
					continue // as many parts as there may be, once of each
				}
				what := fmt.Sprintf("%s: %d×%d, set %v", name, rows, width, set)
				want := copied(make([]tensor.Float, rows*width), start, startB)
				biasLoop(k, want, x, dy, set)
				got := threaded(t, what, func() []tensor.Float {
					got := copied(make([]tensor.Float, rows*width), start, startB)
					k.Forward(got[0], x)
					k.Backward(dense.BiasGrads{X: got[1], B: got[2], SetX: set}, got[0], dy)
					return slices.Concat(got...)
				})
				compare.Near(t, what, got, slices.Concat(want...), rounded)
			}
		}
	}
}

// biasLoop is the loop: it sets the first of to and adds to the others.
func biasLoop(k dense.BiasThen, to [][]tensor.Float, x, dy []tensor.Float, set bool) {
	width := len(k.B)
	sums, z, one := make([]float64, width), slices.Clone(x), slices.Repeat([]tensor.Float{1}, len(x))
	for i := range z {
		z[i] += k.B[i%width]
	}
	slope, f := slices.Clone(one), k.F
	if k.Drop != nil {
		f = vec.ELU
	}
	if k.On || k.Drop != nil {
		f.Forward(z, z, 1)
		f.SetBackward(slope, one, z, z, 1)
	}
	for i := range z {
		if k.Drop != nil {
			kept := tensor.Float(0)
			if k.Drop.Keep(k.Drop.Row(i/width), i%width) {
				kept = tensor.Float(k.Drop.Scale)
			}
			z[i], slope[i] = z[i]*kept, slope[i]*kept
		}
		if to[0][i] = z[i]; set {
			to[1][i] = 0
		}
		to[1][i] += slope[i] * dy[i]
		sums[i%width] += float64(slope[i] * dy[i])
	}
	for j, v := range sums {
		to[2][j] += tensor.Float(v)
	}
}
