package grad_test

import (
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/compare"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// growth is eˣ, an operation whose result may wait, and to which a bias or as many elements
// may be added on the way.
type growth struct {
	x, y *grad.Var
	bias *grad.Var
	plus *grad.Var
	runs *atomic.Int32
}

func grow(x *grad.Var) *grad.Var { return growing(x, new(atomic.Int32)) }

// growing counts its runs.
func growing(x *grad.Var, runs *atomic.Int32) *grad.Var {
	op := grad.Begin("grow", x)
	g, xs := &growth{runs: runs}, []*grad.Var{x}
	waits := tape.Own(op, xs)
	g.x = xs[0]
	y := op.Fresh(x.Shape()...)
	tape.Dry(op, 0)
	if waits {
		return tape.RecordLate(op, y, g)
	}
	g.Run(op, y)
	return tape.RecordBy(op, y, g)
}

func (g *growth) Run(op grad.Op, y *grad.Var) {
	g.runs.Add(1)
	g.y = y
	if tape.Measuring(op) {
		return
	}
	for i, v := range g.x.Value().Data {
		y.Value().Data[i] = tensor.Float(math.Exp(float64(v)))
		if g.bias != nil {
			y.Value().Data[i] += g.bias.Value().Data[i%len(g.bias.Value().Data)]
		}
		if g.plus != nil {
			y.Value().Data[i] += g.plus.Value().Data[i]
		}
	}
}

func (g *growth) Biased(b, y *grad.Var) tape.Late {
	with := *g
	with.bias, with.y = b, y
	return &with
}

func (g *growth) Summed(r *grad.Var) tape.Late {
	with := *g
	with.plus = r
	return &with
}

func (g *growth) Pull(dy *tensor.Dense) {
	dx := g.x.Grad()
	for i, d := range dy.Data {
		y := g.y.Value().Data[i]
		if g.plus != nil {
			y = tensor.Float(math.Exp(float64(g.x.Value().Data[i])))
		}
		if g.bias != nil {
			y -= g.bias.Value().Data[i%len(g.bias.Value().Data)]
		}
		dx.Data[i] += d * y
	}
}

// joining are computations of x, 12×6, and b, a row of it, with what their list of
// operations holds if some run as one, or what it does not hold: "-" comes before that.
var joining = map[string]struct {
	f     func(t *grad.Tape, x, b *grad.Var) *grad.Var
	holds string
}{
	"bias":      {func(_ *grad.Tape, x, b *grad.Var) *grad.Var { return grow(x.Scale(0.5)).AddBias(b, grad.Identity) }, "grow+AddBias"},
	"of a leaf": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var { return grow(x).AddBias(b, grad.Identity) }, "grow+AddBias"},
	"bias twice": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		return grow(x.Tanh()).AddBias(b, grad.Identity).AddBias(b, grad.Identity)
	}, "grow+AddBias AddBias"},
	"of an axis": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		return grow(x.Reshape(12, 2, 3).Scale(0.5)).Reshape(12, 6).AddBias(b, grad.Identity)
	}, "grow+AddBias"},
	"three views": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		return grow(x.Tanh()).Reshape(6, 12).Reshape(4, 18).Reshape(12, 6).AddBias(b, grad.Identity)
	}, "grow AddBias"},
	"of heads": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		return grow(x.Tanh()).Reshape(12, 2, 3).AddBias(b.RowRange(0, 3), grad.Identity)
	}, "grow AddBias"},
	"of a part": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		return grow(x.Tanh()).RowRange(1, 9).AddBias(b, grad.Identity)
	}, "grow AddBias"},
	"then ELU": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var { return grow(x.Tanh()).AddBias(b, grad.ELU) }, "grow AddBias"},
	"read before": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		y := grow(x.Tanh())
		z := y.Square()
		return y.AddBias(b, grad.Identity).Add(z)
	}, "grow Square AddBias"},
	"read after": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		y := grow(x.Tanh())
		z := y.AddBias(b, grad.Identity)
		return z.Mul(y.Square())
	}, "grow grow+AddBias"},
	"a view read after": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		y := grow(x.Tanh())
		v := y.Reshape(6, 12)
		z := y.AddBias(b, grad.Identity)
		return z.Mul(v.Square().Reshape(12, 6))
	}, "grow grow+AddBias"},
	"its own bias": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		y := grow(x.RowRange(0, 1).Tanh())
		return y.AddBias(y.Reshape(6), grad.Identity)
	}, "grow AddBias"},
	"sum":                  {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { r := x.Sin(); return grow(x.Tanh()).Add(r) }, "Sin Tanh grow+Add"},
	"sum, the other order": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { r := x.Sin(); return r.Add(grow(x.Tanh())) }, "Sin Tanh grow+Add"},
	"sum of a view": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		r := x.Sin()
		return grow(x.Reshape(12, 2, 3).Tanh()).Reshape(12, 6).Add(r)
	}, "grow+Add"},
	"sum with a view": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		r := x.Sin().Reshape(6, 12).Reshape(12, 6)
		return grow(x.Tanh()).Add(r)
	}, "grow+Add"},
	"sum with a leaf":     {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return grow(x.Tanh()).Add(x) }, "grow+Add"},
	"sum with an operand": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { h := x.Tanh(); return grow(h).Add(h) }, "Tanh grow+Add"},
	"sum with a constant": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		return grow(x.Tanh()).Add(grad.Const(tensor.New(12, 6)))
	}, "grow+Add"},
	"sum of a constant": {func(t *grad.Tape, x, _ *grad.Var) *grad.Var {
		r := x.Sin()
		return grow(t.Input(tensor.New(12, 6)).Tanh()).Add(r)
	}, "grow+Add"},
	"sum with what is read again": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		r := x.Sin()
		return grow(x.Tanh()).Add(r).Mul(r.Square())
	}, "grow+Add Square"},
	"sum with what was read": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		r := x.Sin()
		s := r.Square()
		return grow(x.Tanh()).Add(r).Mul(s)
	}, "grow+Add Mul"},
	"sum, read after": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		r := x.Sin()
		y := grow(x.Tanh())
		return y.Add(r).Mul(y.Square())
	}, "grow grow+Add Square"},
	"sum, read before": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		y := grow(x.Tanh())
		return y.Add(y.Square())
	}, "grow Square Add"},
	"sum with itself": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { y := grow(x.Tanh()); return y.Add(y) }, "grow Add"},
	"sum with a row":  {func(_ *grad.Tape, x, b *grad.Var) *grad.Var { return grow(x.Tanh()).Add(b) }, "grow Add"},
	"sums in turn": {func(_ *grad.Tape, x, _ *grad.Var) *grad.Var {
		r := x.Sin()
		r = grow(x.Tanh()).Add(r)
		return grow(x.Cos()).Add(r)
	}, "grow+Add Cos grow+Add"},
	"sum in a checkpoint": {func(t *grad.Tape, x, _ *grad.Var) *grad.Var {
		r := x.Sin()
		return t.Checkpoint(func(xs ...*grad.Var) *grad.Var { return grow(xs[0].Tanh()).Add(xs[1]) }, x, r)
	}, "Checkpoint"},
	"dropout": {func(t *grad.Tape, x, b *grad.Var) *grad.Var { return t.Dropout(x.Scale(2).AddBias(b, grad.ELU), 0.4) }, "AddBias+Dropout"},
	"of a product": {func(t *grad.Tape, x, b *grad.Var) *grad.Var {
		return t.Dropout(grow(x.Tanh()).AddBias(b, grad.ELU), 0.4)
	}, "grow AddBias+Dropout"},
	"no ELU": {func(t *grad.Tape, x, b *grad.Var) *grad.Var { return t.Dropout(x.Scale(2).AddBias(b, grad.Tanh), 0.4) }, "AddBias Dropout"},
	"three axes": {func(t *grad.Tape, x, b *grad.Var) *grad.Var {
		return t.Dropout(x.Scale(2).Reshape(6, 2, 6).AddBias(b, grad.ELU), 0.4)
	}, "AddBias Dropout"},
	"dropout, read after": {func(t *grad.Tape, x, b *grad.Var) *grad.Var {
		y := x.Scale(2).AddBias(b, grad.ELU)
		z := t.Dropout(y, 0.4)
		return z.Add(y.Square())
	}, "AddBias AddBias+Dropout Square"},
	"two dropouts": {func(t *grad.Tape, x, b *grad.Var) *grad.Var {
		y := x.Scale(2).AddBias(b, grad.ELU)
		return t.Dropout(y, 0.4).Add(t.Dropout(y, 0.5))
	}, "AddBias AddBias+Dropout Dropout"},
	"dots": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		h := x.Scale(2)
		return h.Dot(b).Mul(h.Dot(b.Tanh()))
	}, "Dot Tanh Dot"},
	"dots in one": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		h, c := x.Scale(2), b.Tanh()
		return h.Dot(b).Mul(h.Dot(c))
	}, "Scale Tanh Dot Mul"},
	"dots of two": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		h, c := x.Scale(2), x.Tanh()
		return h.Dot(b).Mul(c.Dot(b))
	}, "Dot Dot"},
	"three dots": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		h := x.Scale(2)
		y, z, w := h.Dot(b), h.Dot(b), h.Dot(b)
		return y.Mul(z).Mul(w)
	}, "Scale Dot Dot Mul"},
	"norm and ReLU": {func(t *grad.Tape, x, b *grad.Var) *grad.Var { return normed(t, x.Scale(2), b).ReLU().Reshape(12, 6) }, "BatchNorm+ReLU"},
	"norm, read after": {func(t *grad.Tape, x, b *grad.Var) *grad.Var {
		y := normed(t, x.Scale(2), b)
		z := y.ReLU()
		return z.Mul(y.Square()).Reshape(12, 6)
	}, "BatchNorm BatchNorm+ReLU Square"},
	"norm, another activation": {func(t *grad.Tape, x, b *grad.Var) *grad.Var { return normed(t, x.Scale(2), b).Tanh().Reshape(12, 6) }, "BatchNorm Tanh"},
	"norm of a leaf":           {func(t *grad.Tape, x, b *grad.Var) *grad.Var { return normed(t, x, b).ReLU().Reshape(12, 6) }, "BatchNorm ReLU"},
	"checkpoint": {func(t *grad.Tape, x, b *grad.Var) *grad.Var {
		return t.Checkpoint(func(xs ...*grad.Var) *grad.Var { return grow(xs[0].Tanh()).AddBias(b, grad.Identity) }, x)
	}, "Checkpoint"},
	"given to a checkpoint": {func(t *grad.Tape, x, b *grad.Var) *grad.Var {
		y := grow(x.Tanh())
		return t.Checkpoint(func(xs ...*grad.Var) *grad.Var { return xs[0].AddBias(b, grad.Identity) }, y).Mul(y)
	}, "grow Checkpoint"},
	"waits in a checkpoint": {func(t *grad.Tape, x, _ *grad.Var) *grad.Var {
		return t.Checkpoint(func(xs ...*grad.Var) *grad.Var { return grow(xs[0].Tanh()) }, x)
	}, "Checkpoint"},
	"onto": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var { return summed(x, b, takeRows, grad.Tanh) }, "MatMul+Add Tanh"},
	"onto, the other order": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		return summed(x, b, func(z *grad.Var, lo, hi int, y *grad.Var) *grad.Var { return z.TakeRows(lo, hi).Add(y) }, grad.Sigmoid)
	}, "MatMul+Add Sigmoid"},
	"onto, no activation": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var { return summed(x, b, takeRows, grad.Identity) }, "MatMul+Add"},
	"onto, another":       {func(_ *grad.Tape, x, b *grad.Var) *grad.Var { return summed(x, b, takeRows, grad.SiLU) }, "MatMul+Add SiLU"},
	"not given up": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		return summed(x, b, func(z *grad.Var, lo, hi int, y *grad.Var) *grad.Var { return y.Add(z.RowRange(lo, hi)) }, grad.Tanh)
	}, "MatMul Add Tanh"},
	"product read after": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		return summed(x, b, func(z *grad.Var, lo, hi int, y *grad.Var) *grad.Var { return y.Add(z.TakeRows(lo, hi)).Mul(y) }, grad.Tanh)
	}, "MatMul MatMul+Add"},
	"summand read before": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var {
		z := x.Scale(0.5)
		s := z.Square().Sum()
		return summedOnto(x, z, b, takeRows, grad.Tanh).Add(s)
	}, "MatMul+Add Tanh"},
	"onto a leaf": {func(_ *grad.Tape, x, b *grad.Var) *grad.Var { return summedOnto(x, x, b, takeRows, grad.Tanh) }, "MatMul+Add Tanh"},
}

// normed is a batch norm of three rows of 24 elements, none of which is near 0: finite
// differences of a ReLU would be off there.
func normed(t *grad.Tape, x, b *grad.Var) *grad.Var {
	gain, bias := b.Tanh(), b.Add(b.Scale(1e4).Tanh().Scale(3))
	return t.BatchNorm(x.Reshape(3, 24), grad.Affine{Gain: grad.Concat(gain, gain, gain, gain), Bias: grad.Concat(bias, bias, bias, bias)}, nil, 1e-5)
}

func takeRows(z *grad.Var, lo, hi int, y *grad.Var) *grad.Var { return y.Add(z.TakeRows(lo, hi)) }

// summed is, in a loop of three rounds, a sum of rows that were computed before and a
// product, to which join brings them, and a.
func summed(x, b *grad.Var, join func(z *grad.Var, lo, hi int, y *grad.Var) *grad.Var, a grad.Activation) *grad.Var {
	return summedOnto(x, x.Scale(0.5), b, join, a)
}

func summedOnto(x, z, b *grad.Var, join func(z *grad.Var, lo, hi int, y *grad.Var) *grad.Var, a grad.Activation) *grad.Var {
	w := grad.Stack(b, b.Tanh(), b, b, b, b).Reshape(6, 6).Scale(0.4)
	l := tape.BeginLoop(12, x)
	h := x.RowRange(0, 4).Tanh()
	var ys []*grad.Var
	for lo := 0; lo < 12; lo += 4 {
		h = join(z, lo, lo+4, h.MatMul(w)).Activate(a)
		ys = append(ys, h.Scale(2))
	}
	l.End()
	return ys[0].Mul(ys[1]).Add(ys[2])
}

// outcomes are the value of a computation and its gradients, two times.
func outcomes(tp *grad.Tape, x, b *grad.Param, f func(t *grad.Tape, x, b *grad.Var) *grad.Var) (out [][]tensor.Float) {
	y := f(tp, tp.Use(x), tp.Use(b))
	loss := weigh(y)
	out = append(out, slices.Clone(y.Value().Data))
	for range 2 {
		for _, g := range tp.Backward(loss) {
			out = append(out, slices.Clone(g.Value.Data))
		}
	}
	return out
}

// Operations that run as one have the values and gradients of the same ones each by
// itself, and run as one where nothing else reads what is between them.
func TestJoined(t *testing.T) {
	x, b := param(1, 12, 6), param(2, 6)
	for name, c := range joining {
		t.Run(name, func(t *testing.T) {
			undo := grad.SetWaits(false)
			want := outcomes(grad.NewTape(3), x, b, c.f)
			undo()
			tp := grad.NewTape(3)
			got := outcomes(tp, x, b, c.f)
			compare.Slices(t, name, got, want, compare.Off(2e-5, 2e-5))
			if all := strings.Join(tp.Operations(), " "); !strings.Contains(all, c.holds) {
				t.Errorf("operations %s, want %s", all, c.holds)
			}
			steps := grad.NewTape(3)
			for range 3 { // from used buffers
				steps.Reset()
				steps.SetStep(0)
				compare.Slices(t, "the next step", outcomes(steps, x, b, c.f), got, compare.Exactly)
			}
			traced := grad.NewTape(3)
			traced.Trace(true)
			traced.Profile(true)
			compare.Slices(t, "traced", outcomes(traced, x, b, c.f), got, compare.Exactly)
			traced.Profile(false)
			if op, found := traced.FirstNonFinite(); found {
				t.Errorf("found %s", op)
			}
			check{[]*grad.Param{x, b}, func(t *grad.Tape, v []*grad.Var) *grad.Var { return c.f(t, v[0], v[1]) }}.run(t)
		})
	}
}

// An evaluation, and one on no tape, has the value of a training that drops nothing.
func TestJoinedEval(t *testing.T) {
	x, b := param(1, 12, 6), param(2, 6)
	for name, c := range joining {
		eval := grad.NewEval()
		got := slices.Clone(c.f(eval, eval.Use(x), eval.Use(b)).Value().Data)
		undo := grad.SetWaits(false)
		other := grad.NewEval()
		want := c.f(other, other.Use(x), other.Use(b)).Value().Data
		undo()
		none := c.f(nil, grad.Const(x.Value), grad.Const(b.Value)).Value().Data
		compare.Slices(t, name, [][]tensor.Float{got, none}, [][]tensor.Float{want, want}, compare.Off(2e-5, 2e-5))
	}
}

// Measure knows what operations take that run as one.
func TestJoinedMeasure(t *testing.T) {
	x, b := param(1, 12, 6), param(2, 6)
	for name, c := range joining {
		f := func(tp *grad.Tape) *grad.Var { return c.f(tp, tp.Use(x), tp.Use(b)).Square().Sum() }
		tp := grad.NewTape(1)
		tp.Backward(f(tp))
		if got, want := grad.Measure(f), tp.Stats(); got != want {
			t.Errorf("%s: predicted %+v, want %+v", name, got, want)
		}
	}
}

// A result that waits is worked out once, by whoever reads it first, also if several
// goroutines do.
func TestLateReaders(t *testing.T) {
	x, b := param(1, 12, 6), param(2, 6)
	for range 20 {
		tp, runs := grad.NewTape(1), new(atomic.Int32)
		y := growing(tp.Use(x).Scale(1), runs)
		view := y.Reshape(6, 12)
		if runs.Load() != 0 {
			t.Fatal("it did not wait")
		}
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				if v := []*grad.Var{y, view}[i%2].Value().Data[3]; math.Abs(float64(v)-math.Exp(float64(x.Value.Data[3]))) > 1e-5*float64(v) {
					t.Errorf("read %v", v)
				}
			})
		}
		z := y.AddBias(tp.Use(b), grad.Identity)
		wg.Wait()
		if n := runs.Load(); n < 1 || n > 2 {
			t.Fatalf("it ran %d times", n)
		}
		if got, want := z.Value().Data[3], y.Value().Data[3]+b.Value.Data[3]; math.Abs(float64(got-want)) > 1e-5 {
			t.Fatalf("the sum is %v, want %v", got, want)
		}
	}
}

// What others can write to is read when the operation is called.
func TestLateSafety(t *testing.T) {
	for name, n := range map[string]int{"small": 6, "large": 6000} {
		x, b := param(1, n, 6), param(2, 6)
		for _, tp := range []*grad.Tape{grad.NewTape(1), grad.NewEval(), nil} {
			y := grow(tp.Use(x))
			z := tp.Dropout(tp.Use(x).Tanh().AddBias(tp.Use(b), grad.ELU), 0)
			d := tp.Use(x).Scale(1).Dot(tp.Use(b))
			before := [][]tensor.Float{}
			for _, v := range x.Value.Data[:6] {
				before = append(before, []tensor.Float{tensor.Float(math.Exp(float64(v)))})
			}
			wantZ := math.Tanh(float64(x.Value.Data[0])) + float64(b.Value.Data[0])
			if wantZ < 0 {
				wantZ = math.Expm1(wantZ)
			}
			var wantD tensor.Float
			for j, v := range b.Value.Data {
				wantD += v * x.Value.Data[j]
			}
			oldX, oldB := x.Value.Clone(), b.Value.Clone()
			x.Value.Fill(7)
			b.Value.Fill(9)
			for i, w := range before {
				if g := y.Value().Data[i]; math.Abs(float64(g-w[0])) > 1e-5*float64(w[0]) {
					t.Errorf("%s: element %d is %v, was %v when the operation ran", name, i, g, w[0])
				}
			}
			if g := z.Value().Data[0]; math.Abs(float64(g)-wantZ) > 1e-5 {
				t.Errorf("%s: bias and ELU make %v, want %v", name, g, wantZ)
			}
			if g := d.Value().Data[0]; math.Abs(float64(g-wantD)) > 1e-4 {
				t.Errorf("%s: the product is %v, want %v", name, g, wantD)
			}
			copy(x.Value.Data, oldX.Data)
			copy(b.Value.Data, oldB.Data)
		}
	}
}

// Reset throws away what waits.
func TestLateReset(t *testing.T) {
	tp, runs := grad.NewTape(1), new(atomic.Int32)
	y := growing(tp.Use(param(1, 12, 6)).Scale(1), runs)
	tp.Reset()
	tp.Use(param(1, 2, 2)).Tanh()
	if runs.Load() != 0 {
		t.Error("it ran all the same")
	}
	misuse(t, "before its tape's last Reset", func() { y.Value() })
}

// Rows that were given up may not be read again, nor a sum behind its activation; what
// was read before stays, as does what is a leaf.
func TestTakeRows(t *testing.T) {
	x, w := param(1, 12, 6), param(2, 6, 6)
	run := func(f func(t *grad.Tape, z, y, s *grad.Var)) {
		tp := grad.NewTape(1)
		z, h, wv := tp.Use(x).Scale(2), tp.Use(x).Scale(3), tp.Use(w)
		l := tape.BeginLoop(12, h)
		defer l.End()
		y := h.RowRange(0, 4).MatMul(wv)
		s := y.Add(z.TakeRows(0, 4))
		f(tp, z, y, s)
	}
	misuse(t, "use Level.Part", func() { run(func(_ *grad.Tape, z, _, _ *grad.Var) { z.Tanh() }) })
	misuse(t, "use Level.Part", func() { run(func(_ *grad.Tape, z, _, _ *grad.Var) { z.Value() }) })
	misuse(t, "use Level.Part", func() { run(func(_ *grad.Tape, z, _, _ *grad.Var) { z.RowRange(8, 12) }) })
	misuse(t, "use Level.Part", func() { run(func(_ *grad.Tape, z, _, _ *grad.Var) { z.TakeRows(2, 6) }) })
	misuse(t, "use Level.Part", func() { run(func(_ *grad.Tape, _, _, s *grad.Var) { s.Tanh(); s.Value() }) })
	run(func(_ *grad.Tape, z, y, s *grad.Var) {
		want := s.Value().Data[0]
		if got := 2*x.Value.Data[0] + y.Value().Data[0]; math.Abs(float64(got-want)) > 1e-4 {
			t.Errorf("the sum is %v, its terms make %v", want, got)
		}
		z.TakeRows(4, 12)
	})
}
