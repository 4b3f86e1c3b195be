package grad_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// statistics are running statistics of d columns.
func statistics(rng *rand.Rand, d int, fixed bool) *grad.RunningStats {
	mean, v := random(rng, d), random(rng, d)
	for i, f := range v.Data {
		v.Data[i] = f*f + 0.5
	}
	frozen := func(x *tensor.Dense) *grad.Param { return &grad.Param{Value: x, Frozen: true} }
	return &grad.RunningStats{Mean: frozen(mean), Variance: frozen(v), Fixed: fixed}
}

// TestFewNormBits: rows have the bits that they have among many, as a sequence that
// is made step by step needs; and those of few elements do not depend on who asks
// for gradients.
func TestFewNormBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 44))
	for d := 1; d <= 16; d++ {
		gain, bias := grad.Const(random(rng, d)), grad.Const(random(rng, d))
		run := statistics(rng, d, true)
		for rows := 1; rows <= 64; rows += 9 {
			x := grad.Const(random(rng, 65, d))
			few := x.RowRange(0, rows)
			for name, f := range map[string]func(x *grad.Var) *grad.Var{
				"LayerNorm": func(x *grad.Var) *grad.Var { return x.LayerNorm(gain, bias, 0.1) },
				"BatchNorm": func(x *grad.Var) *grad.Var {
					return (*grad.Tape)(nil).BatchNorm(x, grad.Affine{Gain: gain, Bias: bias}, run, 0.1)
				},
			} {
				if !slices.Equal(f(few).Value().Data, f(x).Value().Data[:rows*d]) {
					t.Errorf("%s of %d×%d: other bits than among 65 rows", name, rows, d)
				}
			}
		}
	}
	x, dy, gain := random(rng, 4, 5), random(rng, 4, 5), random(rng, 5)
	run := func(watched bool) (y, dgain []tensor.Float) {
		tape := grad.NewTape(1)
		xv, g := tape.Input(x), tape.Watch(gain)
		if watched {
			xv = tape.Watch(x)
		}
		z := xv.GraphNorm([]int{0, 1, 4}, grad.Affine{Gain: g}, 0.1).Add(xv.LayerNorm(g, nil, 0.1))
		gs := tape.BackwardFrom(z, dy)
		return slices.Clone(z.Value().Data), slices.Clone(gs.Of(g).Data)
	}
	y1, g1 := run(false)
	y2, g2 := run(true)
	if !slices.Equal(y1, y2) || !slices.Equal(g1, g2) {
		t.Errorf("%v and %v without the gradient of x, %v and %v with it", y1, g1, y2, g2)
	}
}
