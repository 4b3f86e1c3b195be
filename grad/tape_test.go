package grad_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/tensor"
)

// misuse fails the test unless f panics with a *TapeError that says want.
func misuse(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		r := recover()
		if e, ok := r.(*grad.TapeError); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("want a TapeError that says %q, got %v", want, r)
		}
	}()
	f()
}

func ones(shape ...int) *tensor.Dense {
	x := tensor.New(shape...)
	x.Fill(1)
	return x
}

func TestMisuse(t *testing.T) {
	a, b := grad.NewTape(1), grad.NewTape(1)
	p := param(1, 2, 2)
	x, y := a.Use(p), b.Use(p)
	misuse(t, "operands of two tapes", func() { x.Add(y) })
	misuse(t, "another tape", func() { a.Backward(y.Sum()) })
	misuse(t, "does not record", func() { grad.NewEval().Backward(x.Sum()) })
	misuse(t, "does not record", func() { (*grad.Tape)(nil).Backward(x.Sum()) })
	misuse(t, "depends on none", func() { a.Backward(grad.Const(ones(1))) })
	misuse(t, "Init called", func() { a.Use(nil) })
	misuse(t, "Init called", func() { a.Use(&grad.Param{}) })
	misuse(t, "operand is nil", func() { x.Add(nil) })
	misuse(t, "trained", func() { a.Update(p, x) })
	misuse(t, "nothing to join", func() { grad.Concat() })
	for _, fraction := range []float64{-0.1, 1.1, math.NaN(), math.Inf(1)} {
		misuse(t, "want 0 to 1", func() { a.Dropout(x, fraction) })
		misuse(t, "want 0 to 1", func() { grad.CrossEntropy{Smoothing: fraction}.Of(x, []int32{0, 1}) })
	}
	misuse(t, "no reduction 9", func() { grad.Loss{Reduction: 9}.MSE(x, x) })
	misuse(t, "no reduction 9", func() { grad.CrossEntropy{Reduction: 9}.Of(x, []int32{0, 1}) })
	if err := tensor.Try(func() { a.Backward(x) }); err == nil || !strings.Contains(err.Error(), "[2 2]: the loss must have one element") {
		t.Errorf("a loss of four elements: %v", err)
	}
}

func TestStaleVar(t *testing.T) {
	tp := grad.NewTape(1)
	x := tp.Watch(ones(2, 2))
	y := x.Exp()
	view := y.RowRange(0, 1)
	kept := y.Keep()
	constant := grad.Const(ones(2, 2))
	tp.Reset()
	tp.Watch(ones(3)).Exp().Tanh().Square() // what y held is theirs now
	for _, f := range []func(){
		func() { y.Value() }, func() { y.Shape() }, func() { y.Dim(0) }, func() { x.Tanh() }, func() { view.Value() }, func() { y.Detach() },
		func() { y.Keep() }, func() { constant.Add(y) }, func() { tp.Backward(y) },
		func() { y.Sparse() }, func() { y.IsSparse() }, func() { y.Needs() }, func() { y.Grad() }, func() { tape.FreshGrad(y) },
	} {
		misuse(t, "Keep", f)
	}
	z := tp.Watch(ones(2, 2)).Mul(kept).Mul(constant)
	if z.Value().Data[0] != kept.Value().Data[0] {
		t.Errorf("a constant after Reset gives %v", z.Value())
	}
}

// TestKeep stops the gradient and survives the reuse of its memory.
func TestKeep(t *testing.T) {
	tp := grad.NewTape(1)
	x := tp.Watch(ones(3))
	k := x.Scale(2).Keep()
	if d := x.Scale(2).Detach(); k.Needs() || d.Needs() {
		t.Error("Keep or Detach wants a gradient")
	}
	g := tp.Backward(x.Mul(k).Sum())
	if got := g.Of(x).Data[0]; got != 2 {
		t.Errorf("gradient %v went through Keep, want 2", got)
	}
	for range 3 {
		tp.Reset()
		tp.Watch(ones(3)).Scale(100).Exp()
	}
	if k.Value().Data[0] != 2 {
		t.Errorf("the kept value became %v", k.Value())
	}
}

// TestEval shows that neither an eval tape nor a nil one records, drops or
// updates, and that both give the values of a training tape.
func TestEval(t *testing.T) {
	p, stat := param(1, 20, 20), &grad.Param{Value: tensor.New(20), Frozen: true}
	eval := grad.NewEval()
	for _, tp := range []*grad.Tape{eval, nil} {
		tp.Reset()
		tp.ResetEval()
		x := tp.Use(p)
		if y := tp.Dropout(x, 0.5); y != x {
			t.Error("dropped under an eval tape")
		}
		if tp.Watch(p.Value).Needs() || tp.Input(p.Value).Needs() || x.Needs() || tp.Recording() {
			t.Error("an eval tape wants gradients")
		}
		tp.Update(stat, x.MeanAxis(0))
		y := x.MatMul(x).Softmax()
		train := grad.NewTape(1)
		z := train.Use(p)
		if !slices.Equal(y.Value().Data, z.MatMul(z).Softmax().Value().Data) {
			t.Error("an eval tape computes something else")
		}
	}
	if n := eval.Stats().Ops; n != 0 {
		t.Errorf("an eval tape recorded %d operations", n)
	}
	if slices.ContainsFunc(stat.Value.Data, func(v tensor.Float) bool { return v != 0 }) {
		t.Error("an eval tape updated a frozen Param")
	}
}

func TestGrads(t *testing.T) {
	a, b, c := param(1, 2), param(2, 2), param(3, 2)
	frozen := &grad.Param{Value: ones(2), Frozen: true}
	tp := grad.NewTape(1)
	vb, va, vf := tp.Use(b), tp.Use(a), tp.Use(frozen)
	w := tp.Watch(ones(2))
	tp.Use(c)
	if tp.Use(b) != vb {
		t.Error("Use twice gives two Vars")
	}
	in := tp.Input(ones(2))
	g := tp.Backward(vb.Mul(tp.Use(b)).Add(va).Mul(w).Mul(vf).Mul(in).Sum())
	if len(g) != 4 || g[0].Param != b || g[1].Param != a || g[2].Param != nil || g[3].Param != c {
		t.Fatalf("the gradients are not in the order of first use: %v", g)
	}
	for i := range 2 {
		if got, want := g.Param(b).Data[i], 2*b.Value.Data[i]; got != want {
			t.Errorf("used twice: gradient %v, want %v", got, want)
		}
	}
	if g.Of(w) != g[2].Value || g.Of(vb) != g.Param(b) || g.Of(in) != nil || g.Of(nil) != nil || g.Param(nil) != nil || g.Param(frozen) != nil {
		t.Error("Of or Param finds the wrong gradient")
	}
	if !slices.Equal(g.Param(c).Data, []tensor.Float{0, 0}) {
		t.Errorf("a Param the loss does not depend on has the gradient %v", g.Param(c))
	}
}

// TestBackwardTwice gives the same gradients, also of a second loss.
func TestBackwardTwice(t *testing.T) {
	p := param(1, 3, 4)
	tp := grad.NewTape(1)
	x := tp.Use(p)
	y := x.RowRange(0, 2).Tanh().Softmax()
	loss := y.Mul(y).Sum()
	first := tp.Backward(loss).Param(p).Clone()
	tp.Backward(x.Sum())
	if second := tp.Backward(loss).Param(p); !slices.Equal(first.Data, second.Data) {
		t.Errorf("first %v, then %v", first, second)
	}
}

func TestUpdate(t *testing.T) {
	stat := &grad.Param{Value: tensor.New(2), Frozen: true}
	tp := grad.NewTape(1)
	x := tp.Watch(ones(3, 2))
	tp.Update(stat, x.MeanAxis(0).Scale(5))
	tp.Update(stat, x.MeanAxis(0))
	if stat.Value.Data[0] != 0 {
		t.Error("an update took effect before Backward")
	}
	tp.Backward(x.Sum())
	if stat.Value.Data[0] != 1 {
		t.Errorf("after Backward the value is %v; the last update counts", stat.Value)
	}
	stat.Value.Zero()
	tp.Backward(x.Sum())
	tp.Update(stat, x.MeanAxis(0))
	tp.Reset()
	tp.Backward(tp.Watch(ones(1)))
	if stat.Value.Data[0] != 0 {
		t.Error("an update took effect twice, or after Reset")
	}
	if err := tensor.Try(func() { tp.Update(stat, grad.Const(ones(3))) }); err == nil {
		t.Error("an update of another size: no error")
	}
}

func TestSumGrads(t *testing.T) {
	p, q := param(1, 3), param(2, 3)
	run := func(ps ...*grad.Param) grad.Grads {
		tp := grad.NewTape(1)
		var loss *grad.Var
		for i, p := range ps {
			y := tp.Use(p).Scale(float64(i + 1)).Sum()
			if loss == nil {
				loss = y
			} else {
				loss = loss.Add(y)
			}
		}
		return tp.Backward(loss)
	}
	g := grad.SumGrads(run(p, q), run(p, q), run(p, q))
	if g.Param(p).Data[0] != 3 || g.Param(q).Data[2] != 6 {
		t.Errorf("sums are %v and %v, want 3 and 6", g.Param(p), g.Param(q))
	}
	if g := grad.SumGrads(); g != nil {
		t.Errorf("the sum of no gradients is %v", g)
	}
	misuse(t, "another order", func() { grad.SumGrads(run(p, q), run(q, p)) })
	misuse(t, "different Params", func() { grad.SumGrads(run(p, q), run(p)) })
}

// TestFrame writes rows from several Vars and reads them in views.
func TestFrame(t *testing.T) {
	p := param(1, 2, 3)
	for name, begin := range map[string]func(x *grad.Var) grad.Op{
		"of a tape": func(x *grad.Var) grad.Op { return grad.Begin("test", x) },
		"of none":   func(*grad.Var) grad.Op { return grad.Begin("test") },
	} {
		tp := grad.NewTape(1)
		x := tp.Use(p)
		f := tape.NewFrame(begin(x), 4, 3)
		f.Write(0, grad.Const(ones(1, 3)))
		f.Write(1, x)
		f.Write(3, f.View(1, 2).Scale(10))
		y := f.Sorted(1, []int32{1, 2, 0}, []int32{2, 0, 1}).RowRange(0, 1) // row 3 alone
		loss := y.Sum().Add(f.View(2, 3).Scale(4).Sum())
		if got, want := y.Value().Data[2], 10*p.Value.Data[2]; got != want {
			t.Errorf("%s: rows are %v", name, y.Value())
		}
		for range 2 {
			if got := tp.Backward(loss).Param(p).Data; !slices.Equal(got, []tensor.Float{10, 10, 10, 4, 4, 4}) {
				t.Errorf("%s: gradient %v, want 10 and 4", name, got)
			}
		}
	}
}

// TestRestart: a tape that starts again drops what a new one drops.
func TestRestart(t *testing.T) {
	x := tensor.New(8, 8)
	x.Fill(1)
	drop := func(tape *grad.Tape) []tensor.Float {
		tape.Reset()
		return slices.Clone(tape.Dropout(grad.Const(x), 0.5).Value().Data)
	}
	old, fresh := grad.NewTape(1), grad.NewTape(2)
	first := drop(old)
	drop(old)
	old.Restart(2)
	if old.Seed() != 2 || old.Step() != 0 {
		t.Errorf("seed %d, step %d", old.Seed(), old.Step())
	}
	if got := drop(old); !slices.Equal(got, drop(fresh)) || slices.Equal(got, first) {
		t.Error("it drops other elements than a new tape")
	}
}

// An evaluation between two steps records and drops nothing, and the next step is
// what it would have been without.
func TestResetEval(t *testing.T) {
	x, w := tensor.New(6, 40), grad.NewParam(40, 3)
	x.Fill(1)
	w.Value.Fill(0.5)
	var masks [2][]tensor.Float
	for i, evaluates := range []bool{false, true} {
		tape := grad.NewTape(3)
		for range 3 {
			tape.Reset()
			y := tape.Dropout(tape.Input(x), 0.5)
			masks[i] = slices.Clone(y.Value().Data)
			if gs := tape.Backward(y.MatMul(tape.Use(w)).Sum()); gs.Param(w) == nil {
				t.Fatal("a step after an evaluation has no gradients")
			}
			if !evaluates {
				continue
			}
			step := tape.Step()
			tape.ResetEval()
			z := tape.Dropout(tape.Input(x), 0.5)
			v := z.MatMul(tape.Use(w))
			if tape.Recording() || v.Needs() || tape.Step() != step || !slices.Equal(z.Value().Data, x.Data) || tape.Stats().Ops != 0 {
				t.Fatalf("an evaluation records or drops: step %d of %d, %d operations", tape.Step(), step, tape.Stats().Ops)
			}
			func() {
				defer func() {
					if _, ok := recover().(*grad.TapeError); !ok {
						t.Error("a Var of the step is alive in the evaluation")
					}
				}()
				y.Value()
			}()
		}
	}
	if !slices.Equal(masks[0], masks[1]) {
		t.Error("evaluations change the masks of the steps after them")
	}
	eval := grad.NewEval()
	eval.ResetEval()
	if eval.Reset(); eval.Recording() {
		t.Error("an eval tape records after ResetEval")
	}
}
