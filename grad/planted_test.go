package grad_test

import (
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/grad/gradtest"
	"github.com/edgewise-ml/edgewise/tensor"
)

// cube is x³, written as another package writes an operation, with an error in
// its pullback.
func cube(x *grad.Var, off float64) *grad.Var {
	op := grad.Begin("test.Cube", x)
	y := op.New(x.Shape()...)
	for i, v := range x.Value().Data {
		y.Value().Data[i] = v * v * v
	}
	return op.Record(y, func(dy *tensor.Dense) {
		for i, v := range x.Value().Data {
			x.Grad().Data[i] += dy.Data[i] * 3 * v * v * tensor.Float(1+off)
		}
	})
}

// skew is x, with a gradient that is off by that fraction: an error planted in
// the operation that follows.
func skew(x *grad.Var, off float64) *grad.Var {
	op := grad.Begin("test.Skew", x)
	y := op.New(x.Shape()...)
	copy(y.Value().Data, x.Value().Data)
	return op.Record(y, func(dy *tensor.Dense) {
		for i, g := range dy.Data {
			x.Grad().Data[i] += g * tensor.Float(1+off)
		}
	})
}

// split returns 2x and 3x: an operation with two results.
func split(x *grad.Var, second tensor.Float) (*grad.Var, *grad.Var) {
	op := grad.Begin("test.Split", x)
	a, b := op.New(x.Shape()...), op.New(x.Shape()...)
	for i, v := range x.Value().Data {
		a.Value().Data[i], b.Value().Data[i] = 2*v, 3*v
	}
	op.RecordAll([]*grad.Var{a, b}, func() {
		for i := range x.Value().Data {
			x.Grad().Data[i] += 2*a.Grad().Data[i] + second*b.Grad().Data[i]
		}
	})
	return a, b
}

// TestPlantedError checks the checker: an error of 0.1 % is caught, none is not.
func TestPlantedError(t *testing.T) {
	x := param(1, 3, 3)
	type one struct{ X *grad.Param }
	for _, c := range []struct {
		name  string
		f     func(x *grad.Var) *grad.Var
		wrong bool
		blunt bool // wrong enough for float32
	}{
		{"exact", func(x *grad.Var) *grad.Var { return cube(x, 0) }, false, false},
		{"0.1 % off", func(x *grad.Var) *grad.Var { return cube(x, 1e-3) }, true, false},
		{"half", func(x *grad.Var) *grad.Var { return cube(x, -0.5) }, true, true},
		{"softmax", func(x *grad.Var) *grad.Var { return skew(x, 0).Softmax() }, false, false},
		{"softmax 0.1 % off", func(x *grad.Var) *grad.Var { return skew(x, 1e-3).Softmax() }, true, false},
		{"max 0.1 % off", func(x *grad.Var) *grad.Var { return skew(x, 1e-3).MaxAxis(1) }, true, false},
		{"pointwise max 0.1 % off", func(x *grad.Var) *grad.Var { return skew(x, 1e-3).Max(x.Neg()) }, true, false},
		{"dot 0.1 % off", func(x *grad.Var) *grad.Var { return skew(x, 1e-3).Dot(x) }, true, false},
		{"two results", func(x *grad.Var) *grad.Var { a, b := split(x, 3); return a.Mul(b) }, false, false},
		{"one of two results", func(x *grad.Var) *grad.Var { _, b := split(x, 3); return b }, false, false},
		{"two results, second wrong", func(x *grad.Var) *grad.Var { a, b := split(x, 1); return a.Mul(b) }, true, true},
	} {
		err := gradtest.Diff(one{x}, func(t *grad.Tape) *grad.Var { return weigh(c.f(t.Use(x))) })
		switch {
		case !c.wrong && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.wrong && (gradtest.Sharp || c.blunt) && (err == nil || !strings.Contains(err.Error(), "X: derivative")):
			t.Errorf("%s is not caught: %v", c.name, err)
		}
	}
	err := gradtest.Diff(one{x}, func(t *grad.Tape) *grad.Var { return t.Watch(ones(1)) })
	if err == nil || !strings.Contains(err.Error(), "X is not used") {
		t.Errorf("an unused Param: %v", err)
	}
	if err := gradtest.Diff(one{}, func(t *grad.Tape) *grad.Var { return t.Watch(ones(1)) }); err == nil {
		t.Error("a model without Params passes")
	}
}
