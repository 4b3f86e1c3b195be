package train_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

func TestAccuracy(t *testing.T) {
	nan := tensor.Float(math.NaN())
	logits := tensor.Of([]tensor.Float{1, 2, 0, 3, 3, 1, nan, 9, 0, 0, 0, 5, 0, 7, 7}, 5, 3)
	labels := []int32{1, 0, 1, 0, grad.NoLabel}
	for _, c := range []struct {
		rows []int32
		want float64
	}{
		{[]int32{0, 1, 2, 3, 4}, 0.5}, // right, tie to the lowest, NaN, wrong, no label
		{[]int32{0}, 1},
		{[]int32{2}, 0},
		{[]int32{3, 0, 0}, 2.0 / 3},
		{[]int32{4}, 0},
		{nil, 0},
	} {
		if got := train.Accuracy(logits, labels, c.rows); got != c.want {
			t.Errorf("rows %v: %v, want %v", c.rows, got, c.want)
		}
	}
}

// TestCrossEntropy compares the metric with the loss, and with large logits
// where e^x overflows.
func TestCrossEntropy(t *testing.T) {
	x, labels := blobs(9)
	labels[4] = grad.NoLabel
	rows := rowsTo(0, 9)
	want := float64(x.CrossEntropy(labels).Value().Data[0])
	if got := train.CrossEntropy(x.Value(), labels, rows); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v, the loss is %v", got, want)
	}
	big := tensor.Of([]tensor.Float{5000, 4000, -5000, 5000}, 2, 2)
	if got := train.CrossEntropy(big, []int32{1, 1}, []int32{0, 1}); got != 500 {
		t.Errorf("of large logits %v, want 500", got)
	}
	if s := train.Measure(x.Value(), labels, rows); s.Loss != train.CrossEntropy(x.Value(), labels, rows) || s.Accuracy != train.Accuracy(x.Value(), labels, rows) {
		t.Errorf("Measure gives %v", s)
	}
}

func TestScoreShapes(t *testing.T) {
	logits := tensor.New(3, 2)
	for what, c := range map[string]struct {
		logits       *tensor.Dense
		labels, rows []int32
	}{
		"a label for each row": {logits, []int32{0, 1}, nil},
		"no row 3":             {logits, []int32{0, 1, 1}, []int32{3}},
		"no row -1":            {logits, []int32{0, 1, 1}, []int32{-1}},
		"label 2 of row 1":     {logits, []int32{0, 2, 1}, []int32{0, 1}},
		"a matrix":             {tensor.New(6), []int32{0, 1, 1, 0, 0, 0}, nil},
	} {
		err := tensor.Try(func() { train.Accuracy(c.logits, c.labels, c.rows) })
		if err == nil || !errors.As(err, new(*tensor.ShapeError)) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error is %v", what, err)
		}
	}
}

func BenchmarkMeasure(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 0))
	logits := tensor.New(2708, 7)
	labels, rows := make([]int32, 2708), make([]int32, 1000)
	for i := range logits.Data {
		logits.Data[i] = tensor.Float(rng.NormFloat64())
	}
	for i := range labels {
		labels[i] = rng.Int32N(7)
	}
	for i := range rows {
		rows[i] = rng.Int32N(2708)
	}
	b.ReportAllocs()
	for b.Loop() {
		train.Measure(logits, labels, rows)
	}
}
