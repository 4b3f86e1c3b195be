package grad_test

import (
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// triple is 3x, by a pullback that sets a gradient where it may.
func triple(x *grad.Var, sets *int) *grad.Var {
	op := grad.Begin("Triple", x)
	y := op.NewUnset(x.Shape()...)
	for i, v := range x.Value().Data {
		y.Value().Data[i] = 3 * v
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx, unset := x.GradUnset()
		if unset {
			*sets++
		}
		for i, v := range dy.Data {
			if unset {
				dx.Data[i] = 0
			}
			dx.Data[i] += 3 * v
		}
	})
}

// A gradient is set once and then added to, whether its Var is a leaf, a result
// or a view of all or of a part of one, at each Backward.
func TestGradUnset(t *testing.T) {
	p := param(1, 4, 2)
	tape := grad.NewTape(1)
	for name, test := range map[string]struct {
		f    func(x *grad.Var, sets *int) *grad.Var
		want tensor.Float
		sets int
	}{
		"leaf":   {func(x *grad.Var, n *int) *grad.Var { return triple(x, n) }, 3, 1},
		"twice":  {func(x *grad.Var, n *int) *grad.Var { return triple(x, n).Add(triple(x, n)) }, 6, 1},
		"after":  {func(x *grad.Var, n *int) *grad.Var { return triple(x, n).Add(x) }, 4, 0},
		"chain":  {func(x *grad.Var, n *int) *grad.Var { return triple(triple(x, n), n) }, 9, 2},
		"view":   {func(x *grad.Var, n *int) *grad.Var { return triple(x.Reshape(8), n) }, 3, 1},
		"result": {func(x *grad.Var, n *int) *grad.Var { return triple(x.Scale(2), n) }, 6, 1},
	} {
		tape.Reset()
		sets := 0
		loss := test.f(tape.Use(p), &sets).Sum()
		for round := range 3 {
			sets = 0
			g := tape.Backward(loss).Param(p)
			if sets != test.sets {
				t.Errorf("%s, round %d: set %d times, want %d", name, round, sets, test.sets)
			}
			if !slices.Equal(g.Data, slices.Repeat([]tensor.Float{test.want}, 8)) {
				t.Errorf("%s, round %d: gradient %v, want %v", name, round, g, test.want)
			}
		}
	}
}

// A view of a part is never set: the rest would not be.
func TestGradUnsetOfPart(t *testing.T) {
	p := param(1, 4, 2)
	tape := grad.NewTape(1)
	for range 3 {
		tape.Reset()
		sets := 0
		g := tape.Backward(triple(tape.Use(p).RowRange(1, 3), &sets).Sum()).Param(p)
		if want := []tensor.Float{0, 0, 3, 3, 3, 3, 0, 0}; sets != 0 || !slices.Equal(g.Data, want) {
			t.Errorf("gradient %v, set %d times; want %v, not set", g, sets, want)
		}
	}
}
