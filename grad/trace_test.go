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
