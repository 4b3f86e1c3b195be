package grad_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BackwardFrom gives the gradients of ⟨dy, y⟩, whether y is the last result, an
// earlier one, a view or watched itself, and leaves dy as it is.
func TestBackwardFrom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	p, dy := param(1, 5, 3), tensor.New(5, 3)
	dy.Normal(rng, 0, 1)
	before := dy.Clone()
	tape := grad.NewTape(1)
	for name, f := range map[string]func(x *grad.Var) *grad.Var{
		"last":    func(x *grad.Var) *grad.Var { return x.Mul(x) },
		"earlier": func(x *grad.Var) *grad.Var { y := x.Tanh(); y.Exp().Sum(); return y },
		"view":    func(x *grad.Var) *grad.Var { return x.Mul(x).Reshape(15).Reshape(5, 3) },
		"leaf":    func(x *grad.Var) *grad.Var { return x },
	} {
		tape.Reset()
		y := f(tape.Use(p))
		first := tape.BackwardFrom(y, dy).Param(p).Clone()
		again := tape.BackwardFrom(y, dy).Param(p).Clone()
		want := tape.Backward(y.Mul(grad.Const(dy)).Sum()).Param(p)
		if !slices.Equal(first.Data, want.Data) || !slices.Equal(again.Data, want.Data) {
			t.Errorf("%s: gradient %v, then %v, want %v", name, first, again, want)
		}
		if !slices.Equal(dy.Data, before.Data) {
			t.Errorf("%s: dy was written to", name)
		}
	}
}

// The memory of dy is the caller's: the tape does not hand it out again.
func TestBackwardFromKeepsItsOwn(t *testing.T) {
	p, dy := param(1, 40), ones(40)
	tape := grad.NewTape(1)
	for range 3 {
		tape.Reset()
		x := tape.Use(p)
		y := x.Mul(x)
		tape.BackwardFrom(y, dy)
		y.Exp().Mul(y).Sum()
	}
	if !slices.Equal(dy.Data, ones(40).Data) {
		t.Errorf("dy is now %v", dy)
	}
}

func TestBackwardFromMisuse(t *testing.T) {
	tape := grad.NewTape(1)
	x := tape.Watch(ones(2, 2))
	if _, ok := tensor.Try(func() { tape.BackwardFrom(x.Exp(), ones(4)) }).(*tensor.ShapeError); !ok {
		t.Error("a gradient of another shape: no ShapeError")
	}
	for name, call := range map[string]func(){
		"eval":     func() { grad.NewEval().BackwardFrom(x, ones(2, 2)) },
		"other":    func() { grad.NewTape(1).BackwardFrom(x, ones(2, 2)) },
		"constant": func() { tape.BackwardFrom(grad.Const(ones(2)), ones(2)) },
	} {
		func() {
			defer func() {
				if _, ok := recover().(*grad.TapeError); !ok {
					t.Errorf("%s: no TapeError", name)
				}
			}()
			call()
		}()
	}
}

// tall is enough rows of 32 for several parts of a gradient in place; the tests say
// that it is made there.
const tall = 2500

// gradients returns what Backward leaves.
func gradients(t *grad.Tape, loss *grad.Var) [][]tensor.Float {
	var out [][]tensor.Float
	for _, g := range t.Backward(loss) {
		out = append(out, slices.Clone(g.Value.Data))
	}
	return out
}

// The gradient of a square product has the same bits in place as beside, on any
// number of threads, wherever it comes from and whoever else adds to it.
func TestSquareProduct(t *testing.T) {
	p, w, dy := param(1, tall, 32), param(2, 32, 32), param(3, tall, 32).Value
	for name, f := range map[string]func(t *grad.Tape, x, w *grad.Var) *grad.Var{
		"alone":          func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.MatMul(w) },
		"twice":          func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.MatMul(w).MatMul(w) },
		"of a view":      func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.Reshape(-1, 2, 32).MatMul(w).Reshape(tall, 32) },
		"beside another": func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.MatMul(w).Add(x) },
		"before another": func(_ *grad.Tape, x, w *grad.Var) *grad.Var { y := x.Scale(2); return y.MatMul(w).Add(y.MatMul(w)) },
		"used again":     func(_ *grad.Tape, x, w *grad.Var) *grad.Var { y := x.MatMul(w); return y.Tanh().Add(y) },
		"in a checkpoint": func(t *grad.Tape, x, w *grad.Var) *grad.Var {
			return t.Checkpoint(func(x ...*grad.Var) *grad.Var { return x[0].MatMul(x[1]) }, x, w)
		},
		"with a constant w":   func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.MatMul(grad.Const(w.Value().Clone())) },
		"of the tape's own x": func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.Tanh().MatMul(w).Tanh() },
	} {
		var first [][]tensor.Float
		for _, least := range []int{math.MaxInt, 0} {
			for _, threads := range sparing.Some([]int{1, 3}) {
				if least > 0 && threads > 1 && !sparing.Full() {
					continue // beside: what is compared with, of which other tests see the threads
				}
				undo, back := par.SetThreads(threads), grad.SetHandLeast(least)
				tape := grad.NewTape(1)
				got := gradients(tape, f(tape, tape.Use(p), tape.Use(w)).Mul(grad.Const(dy)).Sum())
				undo()
				back()
				if first == nil {
					first = got
				}
				if !slices.EqualFunc(got, first, slices.Equal[[]tensor.Float]) {
					t.Errorf("%s: other gradients on %d threads from %d elements on", name, threads, least)
				}
			}
		}
	}
}

// A gradient that the caller gave, or asks for, is not written over.
func TestSquareProductKeeps(t *testing.T) {
	p, w, dy := param(1, tall, 32), param(2, 32, 32), param(3, tall, 32).Value
	defer grad.SetHandLeast(0)()
	before := dy.Clone()
	for range 2 {
		tape := grad.NewTape(1)
		x := tape.Watch(p.Value)
		gs := tape.BackwardFrom(x.MatMul(tape.Use(w)), dy)
		if !slices.Equal(dy.Data, before.Data) {
			t.Fatal("the gradient that BackwardFrom was given has changed")
		}
		want := tensor.New(tall, 32)
		tensor.MatMul(want, dy, w.Value, tensor.TransB)
		if !slices.Equal(gs.Of(x).Data, want.Data) {
			t.Error("the gradient of a watched value differs")
		}
	}
	q := param(4, 200, 200)
	tape := grad.NewTape(1)
	x := tape.Use(q)
	got := gradients(tape, x.MatMul(x).Sum())[0]
	sum := tensor.New(200, 200)
	tensor.MatMul(sum, q.Value, ones(200, 200), tensor.TransA)
	tensor.MatMul(sum, ones(200, 200), q.Value, tensor.TransB)
	for i, v := range sum.Data {
		if d := got[i] - v; d > 1e-2 || d < -1e-2 {
			t.Fatalf("x·x: element %d of the gradient is %v, want %v", i, got[i], v)
		}
	}
}

// A step takes the memory that is predicted, and one array less than it would
// beside.
func TestSquareProductMemory(t *testing.T) {
	const tall = 1<<14 + 1 // more than a tape takes at a time
	x, w := grad.Const(param(1, tall, 32).Value), param(2, 32, 32)
	f := func(t *grad.Tape) *grad.Var { return x.MatMul(t.Use(w)).MatMul(t.Use(w)).Sum() }
	peak := func(least int) int {
		defer grad.SetHandLeast(least)()
		tape := grad.NewTape(1)
		tape.Backward(f(tape))
		if want, got := grad.Measure(f), tape.Stats(); want.Peak < got.Peak || want.Peak > got.Peak+got.Peak/10 {
			t.Errorf("predicted %+v, needed %+v", want, got)
		}
		return tape.Stats().Peak
	}
	if a, b := peak(math.MaxInt), peak(0); a-b < tall*32*4 {
		t.Errorf("%d bytes in place, %d beside, of which one array is %d", b, a, tall*32*4)
	}
}

// The gradient of a sum has the same bits where one of its operands takes it, as it is,
// whoever else adds to it.
func TestSumHandsOver(t *testing.T) {
	p, q, dy := param(1, tall, 32), param(2, tall, 32), param(3, tall, 32).Value
	for name, f := range map[string]func(x, y *grad.Var) *grad.Var{
		"alone":     func(x, y *grad.Var) *grad.Var { return x.Tanh().Add(y.Tanh()) },
		"of leaves": func(x, y *grad.Var) *grad.Var { return x.Add(y) },
		"of itself": func(x, y *grad.Var) *grad.Var { z := x.Mul(y); return z.Add(z) },
		"of views": func(x, y *grad.Var) *grad.Var {
			z := x.Mul(y)
			return z.RowRange(0, 9).Add(z.RowRange(1, 10)).Sum().Mul(z)
		},
		"of a whole":    func(x, y *grad.Var) *grad.Var { z := x.Mul(y); return z.Reshape(tall, 32).Add(z) },
		"a residual":    func(x, y *grad.Var) *grad.Var { z := x.Mul(y); return z.Tanh().Add(z) },
		"in turn":       func(x, y *grad.Var) *grad.Var { return x.Tanh().Add(y.Tanh()).Add(x.Mul(y)).Add(y) },
		"read again":    func(x, y *grad.Var) *grad.Var { z := x.Tanh().Add(y); return z.Mul(z).Add(z) },
		"with constant": func(x, y *grad.Var) *grad.Var { return x.Tanh().Add(grad.Const(dy)).Add(y) },
	} {
		var first [][]tensor.Float
		for _, least := range []int{math.MaxInt, 0} {
			back := grad.SetHandLeast(least)
			tape := grad.NewTape(1)
			got := gradients(tape, f(tape.Use(p), tape.Use(q)).Mul(grad.Const(dy)).Sum())
			back()
			if first == nil {
				first = got
			}
			if !slices.EqualFunc(got, first, slices.Equal[[]tensor.Float]) {
				t.Errorf("%s: other gradients from %d elements on", name, least)
			}
		}
	}
}

// A step of sums takes the memory that is predicted.
func TestSumMemory(t *testing.T) {
	const tall = 1<<14 + 1 // more than a tape takes at a time
	p := param(1, tall, 32)
	f := func(t *grad.Tape) *grad.Var { return t.Use(p).Tanh().Add(t.Use(p).Sigmoid()).Add(t.Use(p)).Sum() }
	for _, least := range []int{math.MaxInt, 0} {
		back := grad.SetHandLeast(least)
		tape := grad.NewTape(1)
		tape.Backward(f(tape))
		if want, got := grad.Measure(f), tape.Stats(); want.Peak < got.Peak || want.Peak > got.Peak+got.Peak/10 {
			t.Errorf("from %d elements on: predicted %+v, needed %+v", least, want, got)
		}
		back()
	}
}
