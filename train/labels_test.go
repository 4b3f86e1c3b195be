package train_test

import (
	"math"
	"testing"

	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// A label that is not known counts nowhere: the scores are those of a table without it.
func TestUnknownLabels(t *testing.T) {
	nan := tensor.Float(math.NaN())
	logits := tensor.Of([]tensor.Float{2, -1, -3, 1, 0.5, 4, -1, -2}, 4, 2)
	targets := tensor.Of([]tensor.Float{1, 1, 0, nan, nan, 1, 1, 0}, 4, 2)
	// the first column is known of rows 0, 1 and 3, the second of 0, 2 and 3
	few := tensor.Of([]tensor.Float{2, -1, -3, 4, -1, -2}, 3, 2)
	known := tensor.Of([]tensor.Float{1, 1, 0, 1, 1, 0}, 3, 2)
	got, want := train.MeasureLabels(logits, targets), train.MeasureLabels(few, known)
	if got != want || math.IsNaN(got.Loss) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for i, f := range []func(x, y *tensor.Dense) []float64{train.LabelAUC, train.LabelAveragePrecision} {
		a, b := f(logits, targets), f(few, known)
		if a[0] != b[0] || a[1] != b[1] || a[0] != a[0] || a[1] != a[1] {
			t.Errorf("score %d: %v, want %v", i, a, b)
		}
	}
	if ap := train.LabelAveragePrecision(logits, tensor.Of([]tensor.Float{1, 1, 1, 0, 1, 0, nan, 0}, 4, 2)); !math.IsNaN(ap[0]) || ap[1] != 1.0/3 {
		t.Errorf("average precisions %v, want none of a class that all have, and 1/3", ap)
	}
}
