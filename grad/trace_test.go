package grad_test

import (
	"bytes"
	"math"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/tape"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// TestNamesOfOperations names what was recorded, in loops too, until the next Reset.
func TestNamesOfOperations(t *testing.T) {
	tp := grad.NewTape(1)
	x := tp.Watch(tensor.New(2, 2))
	undo := tp.Label("Encoder")
	l := tape.BeginLoop(2, x)
	y := x.Tanh()
	l.End()
	undo()
	y.Exp().Sum()
	if got, want := tp.Operations(), []string{"Encoder/Tanh", "Exp", "Sum"}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
	tp.Reset()
	eval := grad.NewEval()
	eval.Input(tensor.New(2)).Exp()
	for what, tp := range map[string]*grad.Tape{"after Reset": tp, "on an eval tape": eval, "on none": nil} {
		if got := tp.Operations(); len(got) > 0 {
			t.Errorf("%s: %q", what, got)
		}
	}
}

func TestFirstNonFinite(t *testing.T) {
	inf := tensor.Float(math.Inf(1))
	x := tensor.Of(floats(1, 2, 0, 4), 2, 2)
	for want, f := range map[string]func(t *grad.Tape) *grad.Var{
		"":                                func(t *grad.Tape) *grad.Var { return t.Watch(x).Exp() },
		"Log: element 2 of [2 2] is -Inf": func(t *grad.Tape) *grad.Var { return t.Watch(x).Exp().Log().Log().Tanh() },
		"Encoder/Layer/Div: element 0 of [2 2] is NaN": func(t *grad.Tape) *grad.Var {
			defer t.Label("Encoder")()
			undo := t.Label("Layer")
			v := t.Watch(x)
			y := v.Sub(v).Div(v.Sub(v))
			undo()
			return y.Exp()
		},
		"the value of a trained Param or watched array: element 1 of [2] is +Inf": func(t *grad.Tape) *grad.Var {
			return t.Watch(tensor.Of(floats(0, inf), 2)).Tanh()
		},
		"the gradient of Sqrt by operand 0: element 2 of [2 2] is +Inf": func(t *grad.Tape) *grad.Var {
			t.Trace(true)
			return t.Watch(x).Scale(2).Sqrt().Exp()
		},
	} {
		tp := grad.NewTape(1)
		if tp.Backward(f(tp).Sum()); want == "Log: element 2 of [2 2] is -Inf" {
			want = "Log: element" // the second logarithm of 0
		}
		op, found := tp.FirstNonFinite()
		if found != (want != "") || !strings.HasPrefix(op, want) {
			t.Errorf("found %q, want %q", op, want)
		}
		tp.Reset()
		if op, found := tp.FirstNonFinite(); found {
			t.Errorf("after Reset: %q", op)
		}
	}
	if op, found := (*grad.Tape)(nil).FirstNonFinite(); found {
		t.Errorf("a nil tape: %q", op)
	}
	tp := grad.NewTape(1)
	tp.Backward(tp.Watch(x).Scale(2).Sqrt().Sum())
	if op, found := tp.FirstNonFinite(); found {
		t.Errorf("without Trace, all values being finite: %q", op)
	}
}

// TestLabels looks for layers and operations in the labels of the goroutine.
func TestLabels(t *testing.T) {
	tp := grad.NewTape(1)
	labels := func() string {
		var b bytes.Buffer
		if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var forward, backward string
	probe := func(x *grad.Var) *grad.Var {
		op := grad.Begin("test.Probe", x)
		forward = labels()
		y := op.New(x.Shape()...)
		return op.Record(y, func(*tensor.Dense) { backward = labels() })
	}
	run := func() {
		defer tp.Label("Layer7")()
		tp.Backward(probe(tp.Watch(ones(1))).Sum())
	}
	run()
	if strings.Contains(forward, "Layer7") || strings.Contains(backward, "Layer7") {
		t.Error("labels without Profile")
	}
	tp.Profile(true)
	run()
	for when, got := range map[string]string{"forward": forward, "backward": backward} {
		if !strings.Contains(got, `"layer":"Layer7"`) || !strings.Contains(got, `"op":"test.Probe"`) {
			t.Errorf("%s the labels are\n%s", when, got)
		}
	}
	if got := labels(); strings.Contains(got, "Layer7") || strings.Contains(got, "test.Probe") {
		t.Errorf("after undo the labels are\n%s", got)
	}
	tp.Profile(false)
	run()
	if strings.Contains(forward, "test.Probe") {
		t.Error("labels after Profile(false)")
	}
	none := (*grad.Tape)(nil)
	none.Profile(true)
	none.Trace(true)
	none.Label("x")()
}

func TestClipNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		g := grad.Grads{{Param: grad.NewParam(1), Value: tensor.Of(floats(3, tensor.Float(bad)), 2)}}
		if n := g.ClipNorm(1); !(math.IsNaN(n) || math.IsInf(n, 1)) || g[0].Value.Data[0] != 3 {
			t.Errorf("norm %v, gradients %v", n, g[0].Value)
		}
	}
	g := grad.Grads{{Param: grad.NewParam(1), Value: tensor.New(0, 2)}}
	if n := g.ClipNorm(1); n != 0 {
		t.Errorf("the norm of nothing is %v", n)
	}
	if n := (grad.Grads{}).Norm(); n != 0 {
		t.Errorf("the norm of no gradients is %v", n)
	}
}

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
