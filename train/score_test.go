package train_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/sparing"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

func TestAccuracy(t *testing.T) {
	nan := tensor.Float(math.NaN())
	logits := tensor.Of([]tensor.Float{1, 2, 0, 3, 3, 1, nan, 9, 0, 0, 0, 5, 0, 7, 7}, 5, 3)
	labels := []int32{1, 0, 1, 0, grad.NoLabel}
	for _, c := range []struct {
		lo, hi int
		want   float64
	}{
		{0, 5, 0.5}, // right, tie to the lowest, NaN, wrong, no label
		{0, 1, 1},
		{2, 3, 0},
		{0, 4, 0.5},
		{0, 3, 2.0 / 3},
		{4, 5, 0},
		{0, 0, 0},
	} {
		if got := train.Accuracy(logits.RowRange(c.lo, c.hi), labels[c.lo:c.hi]); got != c.want {
			t.Errorf("rows %d to %d: %v, want %v", c.lo, c.hi, got, c.want)
		}
	}
}

// TestCrossEntropy compares the metric with the loss, and with large logits
// where e^x overflows.
func TestCrossEntropy(t *testing.T) {
	x, labels := blobs(9)
	labels[4] = grad.NoLabel
	want := float64(x.CrossEntropy(labels).Value().Data[0])
	if got := train.CrossEntropy(x.Value(), labels); math.Abs(got-want) > 1e-6 {
		t.Errorf("%v, the loss is %v", got, want)
	}
	big := tensor.Of([]tensor.Float{5000, 4000, -5000, 5000}, 2, 2)
	if got := train.CrossEntropy(big, []int32{1, 1}); got != 500 {
		t.Errorf("of large logits %v, want 500", got)
	}
	if s := train.Measure(x.Value(), labels); s.Loss != train.CrossEntropy(x.Value(), labels) || s.Accuracy != train.Accuracy(x.Value(), labels) {
		t.Errorf("Measure gives %v", s)
	}
}

func TestScoreShapes(t *testing.T) {
	logits := tensor.New(3, 2)
	for what, c := range map[string]struct {
		logits *tensor.Dense
		labels []int32
	}{
		"a label for each row": {logits, []int32{0, 1}},
		"label 2 of row 1":     {logits, []int32{0, 2, 1}},
		"a matrix":             {tensor.New(6), []int32{0, 1, 1, 0, 0, 0}},
	} {
		err := tensor.Try(func() { train.Accuracy(c.logits, c.labels) })
		if err == nil || !errors.As(err, new(*tensor.ShapeError)) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error is %v", what, err)
		}
	}
}

func BenchmarkMeasure(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 0))
	logits, labels := tensor.New(1000, 7), make([]int32, 1000)
	for i := range logits.Data {
		logits.Data[i] = tensor.Float(rng.NormFloat64())
	}
	for i := range labels {
		labels[i] = rng.Int32N(7)
	}
	b.ReportAllocs()
	for b.Loop() {
		train.Measure(logits, labels)
	}
}

// The scores of many rows are those of one after the other, on any number of
// threads, with infinite logits and NaN too.
func TestMeasureRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for _, width := range []int{1, 7, 1500} {
		logits, labels := tensor.New(700, width), make([]int32, 700)
		for i := range logits.Data {
			logits.Data[i] = tensor.Float(10 * rng.NormFloat64())
		}
		for i := range labels {
			labels[i] = rng.Int32N(int32(width)+1) - 1
		}
		loss, right, n := 0.0, 0.0, 0.0
		for i, label := range labels {
			if label == grad.NoLabel {
				continue
			}
			row, sum, top := logits.Row(i), 0.0, 0
			for j, v := range row {
				sum += math.Exp(float64(v) - float64(row[label]))
				if v > row[top] {
					top = j
				}
			}
			loss, n = loss+math.Log(sum), n+1
			if top == int(label) {
				right++
			}
		}
		want := train.Measure(logits, labels)
		if math.Abs(want.Loss-loss/n) > 1e-6*(1+loss/n) || want.Accuracy != right/n {
			t.Errorf("width %d: %v, want %v and %v", width, want, loss/n, right/n)
		}
		for _, threads := range append(sparing.Threads(), 1) {
			undo := par.SetThreads(threads)
			if got := train.Measure(logits, labels); got != want {
				t.Errorf("width %d: %v on %d threads, want %v", width, got, threads, want)
			}
			undo()
		}
	}
	inf, nan := tensor.Float(math.Inf(1)), tensor.Float(math.NaN())
	bad := tensor.Of([]tensor.Float{1, nan, 2, -inf, inf, 0}, 3, 2)
	if s := train.Measure(bad.RowRange(0, 1), []int32{0}); s.Loss == s.Loss || s.Accuracy != 0 {
		t.Errorf("of a NaN: %v", s)
	}
	if s := train.Measure(bad.RowRange(1, 2), []int32{0}); s != (train.Score{Loss: 0, Accuracy: 1}) {
		t.Errorf("of −Inf for another label: %v", s)
	}
}
