package fused_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

type float = tensor.Float

// wide is whether tensor.Float is float64.
var wide = float64(float(1)/3) == 1.0/3

// near fails unless got is want to within rounding, relative to the largest
// element.
func near(t *testing.T, what string, got *tensor.Dense, want []float64) {
	t.Helper()
	tol, scale := 1e-5, 1.0
	if wide {
		tol = 1e-12
	}
	for _, v := range want {
		scale = max(scale, math.Abs(v))
	}
	if len(got.Data) != len(want) {
		t.Fatalf("%s: %d elements, want %d", what, len(got.Data), len(want))
	}
	for i, v := range got.Data {
		if !(math.Abs(float64(v)-want[i]) <= tol*scale) {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v, want[i])
		}
	}
}

// sameBits fails unless got and want are equal.
func sameBits(t *testing.T, what string, got, want *tensor.Dense) {
	t.Helper()
	for i, v := range got.Data {
		if v != want.Data[i] {
			t.Fatalf("%s: element %d is %v, want %v", what, i, v, want.Data[i])
		}
	}
}

func inner(x, y *tensor.Dense) float64 {
	s := 0.0
	for i, v := range x.Data {
		s += float64(v) * float64(y.Data[i])
	}
	return s
}

func float64s(x *tensor.Dense) []float64 {
	out := make([]float64, len(x.Data))
	for i, v := range x.Data {
		out[i] = float64(v)
	}
	return out
}

// differences compares grad, the gradient of f with respect to x, with
// differences of f.
func differences(t *testing.T, what string, x, grad *tensor.Dense, f func() float64) {
	t.Helper()
	step, tol := 1e-2, 5e-3
	if wide {
		step, tol = 1e-5, 1e-8
	}
	for i, v := range x.Data {
		x.Data[i] = v + float(step)
		up, above := f(), float64(x.Data[i])
		x.Data[i] = v - float(step)
		down, below := f(), float64(x.Data[i])
		x.Data[i] = v
		got, want := float64(grad.Data[i]), (up-down)/(above-below)
		if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
			t.Errorf("%s: gradient of element %d is %v, differences say %v", what, i, got, want)
		}
	}
}
