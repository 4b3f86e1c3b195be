package dense_test

import (
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestWhere chooses, clamps and takes powers by hand, NaN among them, into gradients that
// hold something.
func TestWhere(t *testing.T) {
	nan := tensor.Float(math.NaN())
	ones := func() []tensor.Float { return []tensor.Float{1, 1, 1} }
	x, y, dz := []tensor.Float{-2, nan, 3}, []tensor.Float{nan, 5, 6}, []tensor.Float{10, 20, 30}
	z, dx, dy := ones(), ones(), ones()
	where := dense.Where{If: []tensor.Float{2, 0, nan}, X: x, Y: y}
	where.Forward(z)
	where.Backward(dx, nil, dz)
	where.Backward(nil, dy, dz)
	compare.Near(t, "Where", slices.Concat(z, dx, dy), []tensor.Float{-2, 5, 3, 11, 1, 31, 1, 21, 1}, rounded)

	z, dx = ones(), ones()
	clamp := dense.Clamp{Least: -1, Most: 3}
	clamp.Forward(z, x)
	clamp.Backward(dx, x, dz)
	compare.Near(t, "Clamp", slices.Concat(z, dx), []tensor.Float{-1, nan, 3, 1, 21, 31}, rounded)

	z, dx = ones(), ones()
	dense.Pow(3).Forward(z, x)
	dense.Pow(3).Backward(dx, x, dz)
	compare.Near(t, "Pow", slices.Concat(z, dx), []tensor.Float{-8, nan, 27, 121, nan, 811}, rounded)
	dense.Pow(0).Backward(dx, x, dz)
	compare.Near(t, "Pow of 0", dx, []tensor.Float{121, nan, 811}, rounded)
}
