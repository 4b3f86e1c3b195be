package grad_test

import (
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BenchmarkTiny is an operation on one element, forward and backward: what the
// tape costs. A step has tinyOps of them.
func BenchmarkTiny(b *testing.B) {
	for name, op := range map[string]func(t *grad.Tape, x, w *grad.Var) *grad.Var{
		"Add":          func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.Add(w) },
		"Sub":          func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.Sub(w) },
		"Mul":          func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.Mul(w) },
		"Div":          func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.Div(w) },
		"Scale":        func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Scale(0.9) },
		"Tanh":         func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Tanh() },
		"Sigmoid":      func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Sigmoid() },
		"Square":       func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Square() },
		"MatMul":       func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.MatMul(w) },
		"Linear":       func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.Linear(w, w, grad.Tanh) },
		"AddBias":      func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.AddBias(w, grad.ELU) },
		"Dot":          func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return x.Dot(w.Reshape(1)) },
		"DotBoth":      func(_ *grad.Tape, x, w *grad.Var) *grad.Var { y, _ := x.DotBoth(w.Reshape(1), w.Reshape(1)); return y },
		"Dropout":      func(t *grad.Tape, x, _ *grad.Var) *grad.Var { return t.Dropout(x, 0.1) },
		"Reshape":      func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Reshape(1, 1) },
		"Rows":         func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Rows(firstRow) },
		"RowRange":     func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.RowRange(0, 1) },
		"SumAxis":      func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.SumAxis(0).Reshape(1, 1) },
		"Sum":          func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Sum().Reshape(1, 1) },
		"Mean":         func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.Mean().Reshape(1, 1) },
		"CrossEntropy": func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.CrossEntropy(firstRow).Reshape(1, 1) },
		"L2Normalise":  func(_ *grad.Tape, x, _ *grad.Var) *grad.Var { return x.L2Normalise() },
		"Concat":       func(_ *grad.Tape, x, w *grad.Var) *grad.Var { return grad.Concat(x, w).Columns(0, 1) },
	} {
		b.Run(name, func(b *testing.B) { tiny(b, op) })
	}
}

var firstRow = []int32{0}

// tinyOps is how many operations follow each other in a step.
const tinyOps = 100

func tiny(b *testing.B, op func(t *grad.Tape, x, w *grad.Var) *grad.Var) {
	t := grad.NewTape(1)
	one := tensor.Of([]tensor.Float{1}, 1, 1)
	p := &grad.Param{Value: tensor.Of([]tensor.Float{0.5}, 1, 1)}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		t.Reset()
		x, w := t.Watch(one), t.Use(p)
		for range tinyOps {
			x = op(t, x, w)
		}
		t.Backward(x)
		n += tinyOps
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/operation")
}
