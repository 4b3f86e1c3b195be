package grad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// normOf is a normalisation of rows in two ranges, by which few and many elements
// are compared. v is x, the gain, the bias and the shift.
type normOf struct {
	name string
	f    func(t *grad.Tape, at []int, v []*grad.Var) *grad.Var
}

// statistics are running statistics of d columns.
func statistics(rng *rand.Rand, d int, fixed bool) *grad.RunningStats {
	mean, v := random(rng, d), random(rng, d)
	for i, f := range v.Data {
		v.Data[i] = f*f + 0.5
	}
	frozen := func(x *tensor.Dense) *grad.Param { return &grad.Param{Value: x, Frozen: true} }
	return &grad.RunningStats{Mean: frozen(mean), Variance: frozen(v), Fixed: fixed}
}

var normsOf = []normOf{
	{"LayerNorm", func(_ *grad.Tape, _ []int, v []*grad.Var) *grad.Var { return v[0].LayerNorm(v[1], v[2], 0.1) }},
	{"LayerNorm, plain", func(_ *grad.Tape, _ []int, v []*grad.Var) *grad.Var { return v[0].LayerNorm(nil, nil, 0.1) }},
	{"LayerNorm, gain", func(_ *grad.Tape, _ []int, v []*grad.Var) *grad.Var { return v[0].LayerNorm(v[1], nil, 0.1) }},
	{"LayerNorm of its gain", func(_ *grad.Tape, _ []int, v []*grad.Var) *grad.Var { return v[1].LayerNorm(v[1], v[2], 0.1) }},
	{"BatchNorm", func(t *grad.Tape, _ []int, v []*grad.Var) *grad.Var {
		run := statistics(rand.New(rand.NewPCG(7, 7)), v[0].Dim(1), false)
		y := t.BatchNorm(v[0], grad.Affine{Gain: v[1], Bias: v[2]}, run, 0.1)
		t.Backward(y.Sum()) // for the statistics
		return y.Add(t.Use(run.Mean)).Add(t.Use(run.Variance))
	}},
	{"BatchNorm, fixed", func(t *grad.Tape, _ []int, v []*grad.Var) *grad.Var {
		run := statistics(rand.New(rand.NewPCG(7, 7)), v[0].Dim(1), true)
		return t.BatchNorm(v[0], grad.Affine{Gain: v[1], Bias: v[2]}, run, 0.1)
	}},
	{"GraphNorm", func(_ *grad.Tape, at []int, v []*grad.Var) *grad.Var {
		return v[0].GraphNorm(at, grad.Affine{Gain: v[1], Bias: v[2], Shift: v[3]}, 0.1)
	}},
	{"GraphNorm, plain", func(_ *grad.Tape, at []int, v []*grad.Var) *grad.Var {
		return v[0].GraphNorm(at, grad.Affine{}, 0.1)
	}},
	{"GraphNorm, shift", func(_ *grad.Tape, at []int, v []*grad.Var) *grad.Var {
		return v[0].GraphNorm(at, grad.Affine{Shift: v[3]}, 0.1)
	}},
}

// TestFewNorm compares normalisations that are taken element by element with those
// by kernels: values, gradients and running statistics, also of NaN and infinities.
func TestFewNorm(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 43))
	for _, s := range [][2]int{{0, 3}, {3, 0}, {1, 1}, {1, 2}, {2, 1}, {1, 7}, {7, 1}, {3, 5}, {5, 3}, {1, 33}, {33, 1}, {4, 17}} {
		n, d := s[0], s[1]
		for _, odd := range []float64{0, 1e6, math.NaN(), math.Inf(1), math.Inf(-1)} {
			in := []*tensor.Dense{random(rng, n, d), random(rng, d), random(rng, d), random(rng, d)}
			dy := random(rng, n, d)
			if len(dy.Data) > 0 && odd != 0 {
				in[0].Data[len(dy.Data)/2] = tensor.Float(odd)
			}
			for _, c := range normsOf {
				if n == 0 && c.name == "BatchNorm" || d == 0 && c.name == "BatchNorm" {
					continue // no loss depends on it
				}
				at := []int{0, n / 2, n / 2, n}
				many := c.numbers(in, dy, at, -1)
				few := c.numbers(in, dy, at, 1<<20)
				what := fmt.Sprintf("%s of %d×%d with %v", c.name, n, d, odd)
				compareNorms(t, what, few, many)
			}
		}
	}
}

// numbers returns the result and all gradients, where few rows are taken element by
// element up to that width.
func (c normOf) numbers(in []*tensor.Dense, dy *tensor.Dense, at []int, limit int) (all []tensor.Float) {
	defer grad.SetNormFew(limit)()
	tape := grad.NewTape(1)
	var v []*grad.Var
	for _, x := range in {
		v = append(v, tape.Watch(x))
	}
	y := c.f(tape, at, v)
	if !slices.Equal(y.Shape(), dy.Shape()) {
		dy = tensor.New(y.Shape()...)
		dy.Fill(0.5)
	}
	all = append(all, y.Value().Data...)
	gs := tape.BackwardFrom(y, dy)
	for _, x := range v {
		all = append(all, gs.Of(x).Data...)
	}
	return all
}

// compareNorms compares numbers with others, as precisely as float32 can where one
// element is large.
func compareNorms(t *testing.T, what string, got, want []tensor.Float) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, v := range got {
		w := want[i]
		if v == w || v != v && w != w {
			continue
		}
		if d := math.Abs(float64(v - w)); !(d <= 2e-5*(1+math.Abs(float64(w)))) {
			t.Errorf("%s: number %d is %v, of kernels %v", what, i, v, w)
		}
	}
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
