package golden

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Compare fails the test unless got is want, up to
//
//	max|got − want| ≤ max(1e-5, 4·err32) · max(1, max|want|)
//
// where err32 is the case's Float32Error. Axes of length 1 may differ. The rule
// is the same in float64, since the golden numbers are rounded to float32.
func Compare(t testing.TB, what string, got, want *tensor.Dense, err32 float64) {
	t.Helper()
	if err := difference(got, want, err32); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

// difference is the rule of Compare; it describes the worst element.
func difference(got, want *tensor.Dense, err32 float64) error {
	if !slices.Equal(squeeze(got.Shape()), squeeze(want.Shape())) {
		return fmt.Errorf("shape is %v, want %v", got.Shape(), want.Shape())
	}
	worst, at, scale := 0.0, -1, 1.0
	for i, v := range want.Data {
		scale = max(scale, math.Abs(float64(v)))
		d := math.Abs(float64(got.Data[i]) - float64(v))
		if math.IsNaN(d) {
			return fmt.Errorf("element %d is %v, want %v", i, got.Data[i], v)
		}
		if d > worst {
			worst, at = d, i
		}
	}
	if bound := max(1e-5, 4*err32) * scale; worst > bound {
		return fmt.Errorf("element %d is %v, want %v: off by %.3g, allowed %.3g", at, got.Data[at], want.Data[at], worst, bound)
	}
	return nil
}

// squeeze returns shape without its axes of length 1.
func squeeze(shape []int) []int {
	out := make([]int, 0, len(shape))
	for _, s := range shape {
		if s != 1 {
			out = append(out, s)
		}
	}
	return out
}

// Transpose returns the transpose of a matrix: the frameworks keep linear
// weights out×in, edgewise in×out.
func Transpose(x *tensor.Dense) *tensor.Dense {
	if x.Axes() != 2 {
		panic(tensor.Mismatch("golden.Transpose", x))
	}
	n, m := x.Dim(0), x.Dim(1)
	y := tensor.New(m, n)
	for i := range n {
		for j, v := range x.Row(i) {
			y.Data[j*n+i] = v
		}
	}
	return y
}
