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

// Weights and bias get their gradients together as they do one after the other,
// whichever of a layer's operands want one.
func TestLinearJoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, size := range [][3]int{{3, 4, 5}, {5000, 16, 40}, {2100, 7, 16}, {2100, 7, 1}, {0, 2, 30}} {
		n, in, out := size[0], size[1], size[2]
		x, w, b := tensor.New(n, in), tensor.New(in, out), tensor.New(out)
		for _, d := range []*tensor.Dense{x, w, b} {
			d.Normal(rng, 0, 1)
		}
		for wanted := range 8 {
			run := func() (gs []*tensor.Dense) {
				tape := grad.NewTape(1)
				var vars []*grad.Var
				for i, d := range []*tensor.Dense{x, w, b} {
					if wanted>>i&1 == 1 {
						vars = append(vars, tape.Watch(d))
					} else {
						vars = append(vars, grad.Const(d))
					}
				}
				all := tape.Backward(vars[0].Linear(vars[1], vars[2], grad.Identity).Square().Sum())
				for i, v := range vars {
					if wanted>>i&1 == 1 {
						gs = append(gs, all.Of(v))
					}
				}
				return gs
			}
			if wanted == 0 {
				continue
			}
			apart := run()
			undo := grad.SetJointLeast(0)
			joint := run()
			undo()
			compare.Arrays(t, fmt.Sprint(size, wanted, " apart and joint"), apart, joint, compare.Off(1e-4, 1e-4))
		}
	}
}

// One Param may be weights and bias, or parts of it that share elements.
func TestLinearJointShared(t *testing.T) {
	defer grad.SetJointLeast(0)()
	x, w := tensor.New(20, 1), tensor.New(1, 32)
	x.Fill(2)
	tape := grad.NewTape(1)
	v := tape.Watch(w)
	g := tape.Backward(tape.Watch(x).Linear(v, v.Reshape(32), grad.Identity).Sum()).Of(v)
	for j, d := range g.Data {
		if d != 60 {
			t.Fatalf("the gradient at %d is %v, want 60", j, d)
		}
	}
}

var endings = []grad.Activation{grad.Identity, grad.ReLU, grad.ELU, grad.Tanh, grad.Sigmoid, grad.GELU}

func TestBiasGradients(t *testing.T) {
	x, b, cube := param(1, 4, 3), param(2, 3), param(3, 4, 2, 3)
	for _, a := range endings {
		t.Run("of "+string(a), func(t *testing.T) {
			two(func(x, b *grad.Var) *grad.Var { return x.AddBias(b, a) }, x, b).run(t)
			two(func(x, b *grad.Var) *grad.Var { return x.AddBias(b, a).Add(x.Square()) }, cube, b).run(t)
			one(func(x *grad.Var) *grad.Var { return x.AddBias(nil, a) }, x).run(t)
			one(func(b *grad.Var) *grad.Var { return grad.Const(x.Value).AddBias(b, a) }, b).run(t)
			one(func(x *grad.Var) *grad.Var { return x.AddBias(grad.Const(b.Value), a) }, x).run(t)
		})
	}
}

// result is the value of f and the gradients of its two Params.
func result(x, b *grad.Param, f func(x, b *grad.Var) *grad.Var) [][]tensor.Float {
	t := grad.NewTape(1)
	y := f(t.Use(x), t.Use(b))
	out := [][]tensor.Float{slices.Clone(y.Value().Data)}
	for _, g := range t.Backward(weigh(y)) {
		out = append(out, slices.Clone(g.Value.Data))
	}
	return out
}

// A bias with an activation is the sum and the activation, for rows of all
// widths around a block and on any number of threads.
func TestAddBias(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 0))
	for s, shape := range [][]int{{1, 1}, {3, 7}, {700, 7}, {2708, 1}, {900, 64}, {5, 511}, {5, 512}, {20, 1537}, {40, 3, 100}} {
		x, b := param(rng.Uint64(), shape...), param(rng.Uint64(), shape[len(shape)-1])
		for i, a := range endings {
			want := result(x, b, func(x, b *grad.Var) *grad.Var { return x.Add(b).Activate(a) })
			fused := func(x, b *grad.Var) *grad.Var { return x.AddBias(b, a) }
			got := result(x, b, fused)
			for i, what := range []string{"value", "gradient of x", "gradient of b"} {
				sums := compare.Off(2e-5*(1+math.Sqrt(float64(len(x.Value.Data)))/10), 2e-5)
				compare.Near(t, fmt.Sprintf("%v %q: %s", shape, a, what), got[i], want[i], sums)
			}
			all := []int{1, 3, 8} // which agree: each is taken with every third of shapes and endings
			if !sparing.Full() {
				all = all[(s+i)%3:][:1]
			}
			for _, threads := range all {
				undo := par.SetThreads(threads)
				again := result(x, b, fused)
				undo()
				if !slices.EqualFunc(again, got, slices.Equal[[]tensor.Float]) {
					t.Fatalf("%v %q: other bits on %d threads", shape, a, threads)
				}
			}
		}
	}
}

func TestAddBiasExtremes(t *testing.T) {
	inf, nan := tensor.Float(math.Inf(1)), tensor.Float(math.NaN())
	x := grad.Const(tensor.Of([]tensor.Float{inf, -inf, nan, 1}, 2, 2))
	y := x.AddBias(grad.Const(tensor.Of([]tensor.Float{0, 1}, 2)), grad.ELU).Value().Data
	if y[0] != inf || y[1] != -1 || y[2] == y[2] || y[3] != 2 {
		t.Errorf("ELU of %v is %v", x.Value().Data, y)
	}
	if y := grad.Const(tensor.New(0, 3)).AddBias(grad.Const(tensor.New(3)), grad.ReLU); y.Dim(0) != 0 {
		t.Errorf("of no rows there are %v", y.Shape())
	}
	err, ok := tensor.Try(func() { x.AddBias(grad.Const(tensor.New(3)), grad.ReLU) }).(*tensor.ShapeError)
	if !ok || err.Op != "grad.AddBias" {
		t.Errorf("a bias of another width: %v", err)
	}
}

// The first pullback to reach an operand sets its gradient and the others add,
// also through views and where both operands of a product are one Var.
func TestFreshGradients(t *testing.T) {
	x, w := param(1, 4, 4), param(2, 4, 4)
	for name, c := range map[string]check{
		"a product with itself": one(func(x *grad.Var) *grad.Var { return x.MatMul(x) }, x),
		"several uses":          two(func(x, w *grad.Var) *grad.Var { return x.MatMul(w).Tanh().Add(x.ELU()).Add(w.MatMul(x)) }, x, w),
		"a view of all":         one(func(x *grad.Var) *grad.Var { return x.Tanh().Reshape(2, 8).ELU().Reshape(4, 4).Mul(x) }, x),
		"views of parts":        one(func(x *grad.Var) *grad.Var { h := x.Tanh(); return h.RowRange(0, 2).ELU().Add(h.RowRange(1, 3).Tanh()) }, x),
		"dropout twice": {[]*grad.Param{x}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
			return t.Dropout(v[0], 0.3).Add(t.Dropout(v[0], 0.5))
		}},
	} {
		t.Run(name, c.run)
	}
}

// The gradient of a sum is copied to an operand that has none yet, and added to that of any other:
// both are one Var, a view, frozen, or of another shape.
func TestPassedGradients(t *testing.T) {
	x, w, row := param(1, 4, 4), param(2, 4, 4), param(3, 1, 4)
	frozen := param(4, 4, 4)
	frozen.Frozen = true
	for name, c := range map[string]check{
		"two":        two(func(x, w *grad.Var) *grad.Var { return x.Add(w.Tanh()) }, x, w),
		"itself":     one(func(x *grad.Var) *grad.Var { y := x.Tanh(); return y.Add(y) }, x),
		"read again": one(func(x *grad.Var) *grad.Var { y := x.Tanh(); return y.Add(x).Mul(y).Add(y) }, x),
		"views":      one(func(x *grad.Var) *grad.Var { h := x.Tanh(); return h.RowRange(0, 2).Add(h.RowRange(1, 3)) }, x),
		"shapes":     one(func(x *grad.Var) *grad.Var { return x.Tanh().Add(x.Reshape(4)) }, row),
		"stretched":  two(func(x, w *grad.Var) *grad.Var { return x.Add(w) }, x, row),
		"frozen":     two(func(x, w *grad.Var) *grad.Var { return x.Tanh().Add(w) }, x, frozen),
	} {
		t.Run(name, c.run)
	}
}

// A Param that the loss does not reach has a zero gradient, whatever its buffer
// held in the last step.
func TestUnreachedGradient(t *testing.T) {
	x, w := param(1, 20, 20), param(2, 20, 20)
	tape := grad.NewTape(1)
	for range 3 {
		tape.Reset()
		v, u := tape.Use(x), tape.Use(w)
		gs := tape.Backward(v.MatMul(u).Sum())
		if gs.Of(u).Data[0] == 0 {
			t.Fatal("no gradient")
		}
		tape.Reset()
		v, u = tape.Use(x), tape.Use(w)
		for range 2 {
			gs = tape.Backward(v.Square().Sum())
			if slices.ContainsFunc(gs.Of(u).Data, func(g tensor.Float) bool { return g != 0 }) {
				t.Fatal("a gradient of what the loss does not depend on")
			}
			if g, want := gs.Of(v).Data[3], 2*x.Value.Data[3]; g != want {
				t.Fatalf("the gradient is %v, want %v", g, want)
			}
		}
	}
}

// The end of a layer in one pass is a bias, an activation and a dropout.
func TestBiasAndDropout(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 0))
	const step, p = 1, 0.6
	run := func(shape []int, a grad.Activation, f func(t *grad.Tape, x, b *grad.Var) *grad.Var) [][]tensor.Float {
		tape := grad.NewTape(7)
		x, b := param(5, shape...), param(6, shape[len(shape)-1])
		var out [][]tensor.Float
		for range 2 { // the second time from used buffers
			tape.Reset()
			tape.SetStep(step)
			y := f(tape, tape.Use(x), tape.Use(b))
			out = [][]tensor.Float{slices.Clone(y.Value().Data)}
			for _, g := range tape.Backward(weigh(y)) {
				out = append(out, slices.Clone(g.Value.Data))
			}
		}
		return out
	}
	for _, shape := range [][]int{{1, 1}, {3, 7}, {700, 7}, {260, 64}, {5, 511}, {20, 1537}, {40, 3, 10}, {rng.IntN(90) + 1, 8}} {
		for _, a := range []grad.Activation{grad.ELU, grad.Tanh, grad.Identity} {
			want := run(shape, a, func(t *grad.Tape, x, b *grad.Var) *grad.Var { return t.Dropout(x.Add(b).Activate(a), p) })
			for _, threads := range []int{1, 3} {
				undo := par.SetThreads(threads)
				got := run(shape, a, func(t *grad.Tape, x, b *grad.Var) *grad.Var { return t.Dropout(x.Scale(1).AddBias(b, a), p) })
				undo()
				for i, what := range []string{"value", "gradient of x", "gradient of b"} {
					sums := compare.Off(2e-5*(1+math.Sqrt(float64(len(want[0])))/10), 2e-5)
					compare.Near(t, fmt.Sprintf("%v %q: %s", shape, a, what), got[i], want[i], sums)
				}
				if threads == 1 {
					want = got // from now on to the bit
				} else if !slices.EqualFunc(got, want, slices.Equal[[]tensor.Float]) {
					t.Fatalf("%v %q: other bits on %d threads", shape, a, threads)
				}
			}
		}
	}
}

// Bias, ELU and dropout have the gradients that their value says, draw one mask, and
// drop nothing where nothing is to be dropped.
func TestBiasAndDropoutGradients(t *testing.T) {
	x, b := param(1, 4, 3), param(2, 3)
	for _, p := range []float64{0.4, 0, 1} {
		check{[]*grad.Param{x, b}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
			y := t.Dropout(v[0].Scale(2).AddBias(v[1], grad.ELU), p)
			return t.Dropout(y, 0.3).Add(v[0])
		}}.run(t)
	}
	check{[]*grad.Param{b}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
		return t.Dropout(t.Input(x.Value).Scale(2).AddBias(v[0], grad.ELU), 0.4)
	}}.run(t)
	check{[]*grad.Param{x}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
		return t.Dropout(v[0].Scale(2).AddBias(grad.Const(b.Value), grad.ELU), 0.4)
	}}.run(t)
	check{[]*grad.Param{x}, func(t *grad.Tape, v []*grad.Var) *grad.Var { // the bias is a row of what it is added to
		h := v[0].Scale(2)
		return t.Dropout(h.AddBias(h.RowRange(1, 2).Reshape(3), grad.ELU), 0.4)
	}}.run(t)
	for _, a := range []grad.Activation{grad.ELU, grad.Identity} {
		check{[]*grad.Param{b}, func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			return v[0].Reshape(1, 3).AddBias(v[0], a)
		}}.run(t)
	}
	tape, other := grad.NewTape(1), grad.NewTape(1)
	tape.Dropout(tape.Use(x).Scale(1).AddBias(tape.Use(b), grad.ELU), 0.9)
	other.Dropout(grad.Const(x.Value), 0.9)
	if !slices.Equal(tape.Dropout(grad.Const(x.Value), 0.5).Value().Data, other.Dropout(grad.Const(x.Value), 0.5).Value().Data) {
		t.Error("bias and dropout draw more or less than one mask")
	}
}
