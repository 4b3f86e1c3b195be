package grad_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
	for _, shape := range [][]int{{1, 1}, {3, 7}, {700, 7}, {2708, 1}, {900, 64}, {5, 511}, {5, 512}, {20, 1537}, {40, 3, 100}} {
		x, b := param(rng.Uint64(), shape...), param(rng.Uint64(), shape[len(shape)-1])
		for _, a := range endings {
			want := result(x, b, func(x, b *grad.Var) *grad.Var { return x.Add(b).Activate(a) })
			fused := func(x, b *grad.Var) *grad.Var { return x.AddBias(b, a) }
			got := result(x, b, fused)
			for i, what := range []string{"value", "gradient of x", "gradient of b"} {
				for j, w := range want[i] {
					if g := got[i][j]; math.Abs(float64(g-w)) > 2e-5*(1+math.Abs(float64(w))+math.Sqrt(float64(len(x.Value.Data)))/10) {
						t.Fatalf("%v %q: element %d of the %s is %v, want %v", shape, a, j, what, g, w)
					}
				}
			}
			for _, threads := range []int{1, 2, 3, 8} {
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
func TestDropBiased(t *testing.T) {
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
	for _, shape := range [][]int{{1, 1}, {3, 7}, {700, 7}, {900, 64}, {5, 511}, {20, 1537}, {40, 3, 10}, {rng.IntN(90) + 1, 8}} {
		for _, a := range []grad.Activation{grad.ELU, grad.Tanh, grad.Identity} {
			want := run(shape, a, func(t *grad.Tape, x, b *grad.Var) *grad.Var { return t.Dropout(x.Add(b).Activate(a), p) })
			for _, threads := range []int{1, 2, 3, 8} {
				undo := par.SetThreads(threads)
				got := run(shape, a, func(t *grad.Tape, x, b *grad.Var) *grad.Var { return t.DropBiased(x, b, a, p) })
				undo()
				for i, what := range []string{"value", "gradient of x", "gradient of b"} {
					for j, w := range want[i] {
						if g := got[i][j]; math.Abs(float64(g-w)) > 2e-5*(1+math.Abs(float64(w))+math.Sqrt(float64(len(want[0])))/10) {
							t.Fatalf("%v %q: element %d of the %s is %v, want %v", shape, a, j, what, g, w)
						}
					}
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

// DropBiased has the gradients that its value says, draws one mask, and drops
// nothing where nothing is to be dropped.
func TestDropBiasedGradients(t *testing.T) {
	x, b := param(1, 4, 3), param(2, 3)
	for _, p := range []float64{0.4, 0, 1} {
		check{[]*grad.Param{x, b}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
			y := t.DropBiased(v[0], v[1], grad.ELU, p)
			return t.Dropout(y, 0.3).Add(v[0])
		}}.run(t)
	}
	check{[]*grad.Param{x}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
		return t.DropBiased(v[0], nil, grad.ELU, 0.4)
	}}.run(t)
	check{[]*grad.Param{b}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
		return t.DropBiased(grad.Const(x.Value), v[0], grad.ELU, 0.4)
	}}.run(t)
	check{[]*grad.Param{x}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
		return t.DropBiased(v[0], grad.Const(b.Value), grad.ELU, 0.4)
	}}.run(t)
	for _, a := range []grad.Activation{grad.ELU, grad.Identity} { // the bias is a row of x
		check{[]*grad.Param{x}, func(t *grad.Tape, v []*grad.Var) *grad.Var {
			return t.DropBiased(v[0], v[0].RowRange(1, 2).Reshape(3), a, 0.4).Add(v[0].AddBias(v[0].RowRange(3, 4).Reshape(3), a))
		}}.run(t)
		check{[]*grad.Param{b}, func(_ *grad.Tape, v []*grad.Var) *grad.Var {
			return v[0].Reshape(1, 3).AddBias(v[0], a)
		}}.run(t)
	}
	if y := grad.NewEval().DropBiased(grad.Const(x.Value), grad.Const(b.Value), grad.ELU, 0.9).Value(); !slices.Equal(y.Data, grad.Const(x.Value).AddBias(grad.Const(b.Value), grad.ELU).Value().Data) {
		t.Error("an eval tape drops")
	}
	tape := grad.NewTape(1)
	tape.DropBiased(grad.Const(x.Value), grad.Const(b.Value), grad.ELU, 0.9)
	after := tape.Dropout(grad.Const(x.Value), 0.5).Value().Data
	other := grad.NewTape(1)
	other.Dropout(grad.Const(x.Value), 0.9)
	if !slices.Equal(after, other.Dropout(grad.Const(x.Value), 0.5).Value().Data) {
		t.Error("DropBiased draws more or less than one mask")
	}
}

// growth is eˣ, an operation to whose result a bias may be added in place.
type growth struct {
	x, y  *grad.Var
	shift []tensor.Float
}

func grow(x *grad.Var) *grad.Var { return growBy(x, func(g *growth) grad.Pullback { return g }) }

// growBy is eˣ with the pullback that by makes of that of a growth.
func growBy(x *grad.Var, by func(g *growth) grad.Pullback) *grad.Var {
	op := grad.Begin("grow", x)
	g := &growth{x: x, y: op.Fresh(x.Shape()...)}
	for i, v := range x.Value().Data {
		g.y.Value().Data[i] = tensor.Float(math.Exp(float64(v)))
	}
	return op.RecordBy(g.y, by(g))
}

func (g *growth) Shift(b *grad.Var) bool {
	g.shift = b.Value().Data
	return true
}

// stiff is a growth that allows no bias.
type stiff struct{ *growth }

func (stiff) Shift(*grad.Var) bool { return false }

func rigid(x *grad.Var) *grad.Var {
	return growBy(x, func(g *growth) grad.Pullback { return stiff{g} })
}

func (g *growth) Pull(dy *tensor.Dense) {
	dx := g.x.Grad()
	for i, d := range dy.Data {
		y := g.y.Value().Data[i]
		if g.shift != nil {
			y -= g.shift[i%len(g.shift)]
		}
		dx.Data[i] += d * y
	}
}

// A bias in place has the value and the gradients of one beside, and where it
// can not be in place it is beside.
func TestAddBiasInPlace(t *testing.T) {
	x, b, wide := param(1, 40, 6), param(2, 6), param(3, 3)
	for name, c := range map[string]struct {
		b             *grad.Param
		place, beside func(x, b *grad.Var) *grad.Var
		in            bool
	}{
		"last": {b, func(x, b *grad.Var) *grad.Var { return grow(x).AddBiasInPlace(b, grad.Identity) },
			func(x, b *grad.Var) *grad.Var { return x.Exp().AddBias(b, grad.Identity) }, true},
		"a view": {b, func(x, b *grad.Var) *grad.Var {
			return grow(x.Reshape(40, 2, 3)).Reshape(40, 6).AddBiasInPlace(b, grad.Identity)
		}, func(x, b *grad.Var) *grad.Var {
			return x.Exp().AddBias(b, grad.Identity)
		}, true},
		"a part of each row": {wide, func(x, b *grad.Var) *grad.Var {
			return grow(x).Reshape(40, 2, 3).AddBiasInPlace(b, grad.Identity).Reshape(40, 6)
		}, func(x, b *grad.Var) *grad.Var {
			return x.Exp().Reshape(40, 2, 3).AddBias(b, grad.Identity).Reshape(40, 6)
		}, false},
		"a part": {b, func(x, b *grad.Var) *grad.Var { return grow(x).RowRange(1, 40).AddBiasInPlace(b, grad.Identity) },
			func(x, b *grad.Var) *grad.Var { return x.Exp().RowRange(1, 40).AddBias(b, grad.Identity) }, false},
		"with an activation": {b, func(x, b *grad.Var) *grad.Var { return grow(x).AddBiasInPlace(b, grad.ELU) },
			func(x, b *grad.Var) *grad.Var { return x.Exp().AddBias(b, grad.ELU) }, false},
		"of another operation": {b, func(x, b *grad.Var) *grad.Var { return x.Exp().AddBiasInPlace(b, grad.Identity) },
			func(x, b *grad.Var) *grad.Var { return x.Exp().AddBias(b, grad.Identity) }, false},
		"an operation later": {b, func(x, b *grad.Var) *grad.Var {
			y := grow(x)
			z := y.Tanh()
			return y.AddBiasInPlace(b, grad.Identity).Add(z)
		}, func(x, b *grad.Var) *grad.Var {
			y := x.Exp()
			z := y.Tanh()
			return y.AddBias(b, grad.Identity).Add(z)
		}, false},
		"read by its pullback": {b, func(x, b *grad.Var) *grad.Var { return rigid(x).AddBiasInPlace(b, grad.Identity) },
			func(x, b *grad.Var) *grad.Var { return x.Exp().AddBias(b, grad.Identity) }, false},
		"a leaf": {b, func(x, b *grad.Var) *grad.Var { return x.AddBiasInPlace(b, grad.Identity) },
			func(x, b *grad.Var) *grad.Var { return x.AddBias(b, grad.Identity) }, false},
	} {
		got, want := result(x, c.b, c.place), result(x, c.b, c.beside)
		for i, what := range []string{"value", "gradient of x", "gradient of b"} {
			for j, w := range want[i] {
				if g := got[i][j]; math.Abs(float64(g-w)) > 1e-5*(1+math.Abs(float64(w))) {
					t.Fatalf("%s: element %d of the %s is %v, want %v", name, j, what, g, w)
				}
			}
		}
		tape := grad.NewTape(1)
		if y := grow(tape.Use(x)); c.in {
			if z := y.AddBiasInPlace(tape.Use(b), grad.Identity); &z.Value().Data[0] != &y.Value().Data[0] {
				t.Errorf("%s: the sum has memory of its own", name)
			}
		}
	}
	if _, ok := tensor.Try(func() { tape := grad.NewTape(1); grow(tape.Use(x)).AddBiasInPlace(tape.Use(wide), grad.Identity) }).(*tensor.ShapeError); !ok {
		t.Error("a bias of another length: no ShapeError")
	}
}

// A checkpointed function leaves alone what it is given, which it reads again, and
// may add in place to what it made.
func TestAddBiasInPlaceCheckpoint(t *testing.T) {
	x, b := param(1, 40, 6), param(2, 6)
	for name, inside := range map[string]func(x *grad.Var) *grad.Var{
		"given": func(x *grad.Var) *grad.Var { return x }, "made": grow,
	} {
		run := func(add func(x, b *grad.Var) *grad.Var) (out [][]tensor.Float) {
			tape := grad.NewTape(1)
			y := grow(tape.Use(x))
			z := tape.Checkpoint(func(xs ...*grad.Var) *grad.Var { return add(inside(xs[0]), tape.Use(b)).Tanh() }, y)
			out = append(out, slices.Clone(z.Value().Data), slices.Clone(y.Value().Data))
			for _, g := range tape.Backward(weigh(z)) {
				out = append(out, slices.Clone(g.Value.Data))
			}
			return out
		}
		got := run(func(x, b *grad.Var) *grad.Var { return x.AddBiasInPlace(b, grad.Identity) })
		want := run(func(x, b *grad.Var) *grad.Var { return x.AddBias(b, grad.Identity) })
		for i := range want {
			for j, w := range want[i] {
				if g := got[i][j]; math.Abs(float64(g-w)) > 1e-5*(1+math.Abs(float64(w))) {
					t.Fatalf("%s: element %d of array %d is %v, want %v", name, j, i, g, w)
				}
			}
		}
	}
}

// A gradient that BackwardFrom is given goes past the bias, and stays what it was.
func TestAddBiasInPlaceFrom(t *testing.T) {
	x, b, dy := param(1, 40, 6), param(2, 6), param(3, 40, 6).Value
	before := dy.Clone()
	from := func(f func(x, b *grad.Var) *grad.Var) (out [][]tensor.Float) {
		tape := grad.NewTape(1)
		y := f(tape.Use(x), tape.Use(b))
		for range 2 {
			out = nil
			for _, g := range tape.BackwardFrom(y, dy) {
				out = append(out, slices.Clone(g.Value.Data))
			}
		}
		return out
	}
	got := from(func(x, b *grad.Var) *grad.Var { return grow(x).AddBiasInPlace(b, grad.Identity) })
	want := from(func(x, b *grad.Var) *grad.Var { return grow(x).AddBias(b, grad.Identity) })
	for i := range want {
		for j, w := range want[i] {
			if g := got[i][j]; math.Abs(float64(g-w)) > 1e-5*(1+math.Abs(float64(w))) {
				t.Fatalf("element %d of gradient %d is %v, want %v", j, i, g, w)
			}
		}
	}
	if !slices.Equal(dy.Data, before.Data) {
		t.Error("the gradient that was given has changed")
	}
}
