package golden

import (
	"fmt"
	"slices"
	"testing"

	"github.com/edgewise-ml/edgewise/internal/compare"
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

// difference is the rule of Compare.
func difference(got, want *tensor.Dense, err32 float64) error {
	if !slices.Equal(squeeze(got.Shape()), squeeze(want.Shape())) {
		return fmt.Errorf("shape is %v, want %v", got.Shape(), want.Shape())
	}
	return compare.Differ(got.Data, want.Data, compare.PartOfLargest(max(1e-5, 4*err32)))
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
