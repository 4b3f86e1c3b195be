package grad_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestMeasure compares predictions with steps. What is predicted is at least what
// is needed, and at most a tenth more.
func TestMeasure(t *testing.T) {
	const n, d = 300, 24
	x, w, b, out := grad.Const(param(1, n, d).Value), param(2, d, d), param(3, d), param(4, d, 7)
	bag := grad.Const(sparse.FromDense(tensor.New(n, d)))
	labels := make([]int32, n)
	blk := newBlock(d)
	for name, f := range map[string]func(t *grad.Tape) *grad.Var{
		"linear": func(t *grad.Tape) *grad.Var {
			return x.Linear(t.Use(w), t.Use(b), grad.ReLU).Linear(t.Use(out), nil, grad.Identity).CrossEntropy(labels)
		},
		"bag of words": func(t *grad.Tape) *grad.Var {
			return t.Dropout(bag, 0.5).MatMul(t.Use(w)).Add(t.Use(b)).ELU().MatMul(t.Use(out)).CrossEntropy(labels)
		},
		"norms": func(t *grad.Tape) *grad.Var {
			h := x.MatMul(t.Use(w)).LayerNorm(nil, t.Use(b), 1e-5)
			h = h.GraphNorm([]int{0, 100, n}, grad.Affine{Gain: t.Use(b)}, 1e-5)
			return grad.PairNorm{}.Of(h, []int{0, n}).L2Normalise().Square().Mean()
		},
		"shapes": func(t *grad.Tape) *grad.Var {
			h := x.MatMul(t.Use(w)).Reshape(n, 4, 6)
			h = grad.Concat(h.Transpose().MatMul(h), h.Transpose().MatMulT(h.Transpose())).MaxAxis(1).Rows([]int32{5, 6, 7})
			return grad.Loss{}.Huber(h.CumSum(), h.Softmax(), 1)
		},
		"dropout": func(t *grad.Tape) *grad.Var { return blk.forward(t, blk.forward(t, x)).Tanh().Sum() },
		"checkpoint": func(t *grad.Tape) *grad.Var {
			f := func(xs ...*grad.Var) *grad.Var { return blk.forward(t, xs[0]) }
			return t.Checkpoint(f, t.Checkpoint(f, x)).Sum()
		},
	} {
		mean := blk.Mean.Value.Clone()
		want := grad.Measure(f)
		for i, v := range mean.Data {
			if blk.Mean.Value.Data[i] != v {
				t.Fatalf("%s: measuring moved a running statistic", name)
			}
		}
		tape := grad.NewTape(1)
		for range 3 {
			tape.Reset()
			tape.Backward(f(tape))
		}
		got := tape.Stats()
		if want.Peak < got.Peak || want.Peak > got.Peak*11/10 || want.Held < got.Held || want.Held > got.Held*11/10 || want.Ops != got.Ops {
			t.Errorf("%s: predicted %+v, needed %+v", name, want, got)
		}
		eval := grad.NewEval()
		for range 3 {
			eval.Reset()
			f(eval)
		}
		if want, got := grad.MeasureEval(func(t *grad.Tape) { f(t) }), eval.Stats(); want.Peak < got.Peak || want.Peak > got.Peak*11/10 || want.Held < got.Held {
			t.Errorf("%s, evaluated: predicted %+v, needed %+v", name, want, got)
		}
	}
}

// TestMeasureEvalInParts resets the tape of an evaluation between its parts: it
// stays one.
func TestMeasureEvalInParts(t *testing.T) {
	p := param(1, 3, 3)
	grad.MeasureEval(func(tape *grad.Tape) {
		tape.Reset()
		if y := tape.Use(p).Tanh(); tape.Recording() || y.Needs() {
			t.Error("it records")
		}
	})
}
