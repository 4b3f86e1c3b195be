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
	if got := train.Measure(x.Value(), labels).Loss; math.Abs(got-want) > 1e-6 {
		t.Errorf("%v, the loss is %v", got, want)
	}
	big := tensor.Of([]tensor.Float{5000, 4000, -5000, 5000}, 2, 2)
	if got := train.Measure(big, []int32{1, 1}).Loss; got != 500 {
		t.Errorf("of large logits %v, want 500", got)
	}
	if s := train.Measure(x.Value(), labels); s.Empty || s.Accuracy != train.Accuracy(x.Value(), labels) {
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

// The confusion of nine rows, one of them without a prediction.
func confusion() *train.Confusion {
	nan := tensor.Float(math.NaN())
	said := []int{0, 0, 1, 1, 1, 2, 0, 2, -1}
	labels := []int32{0, 0, 0, 1, 1, 1, 2, 2, 2}
	logits := tensor.New(9, 4)
	for i, c := range said {
		if c < 0 {
			logits.Row(i)[1] = nan
		} else {
			logits.Row(i)[c] = 1
		}
	}
	return train.NewConfusion(logits, labels)
}

// The numbers are those of scikit-learn 1.x for y_true = [0 0 0 0 1 1 3],
// y_pred = [0 0 1 2 1 0 3]: balanced_accuracy_score leaves out class 2, which is
// predicted and does not occur, and f1_score with average="macro" does not.
func TestUnevenClasses(t *testing.T) {
	labels, said := []int32{0, 0, 0, 0, 1, 1, 3}, []int{0, 0, 1, 2, 1, 0, 3}
	logits := tensor.New(7, 5)
	for i, c := range said {
		logits.Row(i)[c] = 1
	}
	counts := train.NewConfusion(logits, labels).Counts()
	if got, want := train.BalancedAccuracy(counts), (0.5+0.5+1)/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("balanced accuracy is %v, want %v", got, want)
	}
	if got, want := train.MacroF1(counts), (4.0/7+0.5+0+1)/4; math.Abs(got-want) > 1e-15 {
		t.Errorf("macro F1 is %v, want %v", got, want)
	}
}

func TestMajority(t *testing.T) {
	labels := []int32{2, 2, 1, grad.NoLabel, 2, 0, 1, 1}
	for _, tt := range []struct {
		labels []int32
		want   float64
	}{
		{labels, 3.0 / 7}, {labels[:4], 2.0 / 3}, {labels[3:4], 0}, {nil, 0}, {labels[5:6], 1},
	} {
		if got := train.Majority(tt.labels); got != tt.want {
			t.Errorf("of %v it is %v, want %v", tt.labels, got, tt.want)
		}
	}
}

func TestConfusion(t *testing.T) {
	c := confusion()
	want := "2 1 0 0 0\n0 2 1 0 0\n1 0 1 0 1\n0 0 0 0 0\n"
	if got := c.String(); got != want {
		t.Errorf("the matrix is\n%swant\n%s", got, want)
	}
	if c.Classes() != 4 || c.At(2, 0) != 1 || c.At(2, 4) != 1 || c.Accuracy() != 5.0/9 {
		t.Errorf("%d classes, accuracy %v", c.Classes(), c.Accuracy())
	}
	counts := c.Counts()
	for i, want := range []train.Counts{{2, 1, 1, 5}, {2, 1, 1, 5}, {1, 1, 2, 5}, {0, 0, 0, 9}} {
		if counts[i] != want {
			t.Errorf("class %d: %+v, want %+v", i, counts[i], want)
		}
	}
	// Class 3 neither occurs nor is predicted, so three classes count:
	// F1 of 2/3, 2/3 and 2/5.
	if got, want := train.MacroF1(counts), (2.0/3+2.0/3+0.4)/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("macro F1 is %v, want %v", got, want)
	}
	if got, want := train.MicroF1(counts), 10.0/17; math.Abs(got-want) > 1e-15 { // a NaN is no false positive
		t.Errorf("micro F1 is %v, want %v", got, want)
	}
	if got := counts[2]; got.Precision() != 0.5 || got.Recall() != 1.0/3 || got.F1() != 0.4 || got.Accuracy() != 6.0/9 {
		t.Errorf("class 2: precision %v, recall %v, F1 %v, accuracy %v", got.Precision(), got.Recall(), got.F1(), got.Accuracy())
	}
	// Recalls of 2/3, 2/3 and 1/3; class 3 does not occur.
	if got, want := train.BalancedAccuracy(counts), (2.0/3+2.0/3+1.0/3)/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("balanced accuracy is %v, want %v", got, want)
	}
	if none := (train.Counts{}); none.F1() != 0 || none.Precision() != 0 || none.Recall() != 0 || none.Accuracy() != 0 || train.MacroF1(nil) != 0 || train.BalancedAccuracy(nil) != 0 {
		t.Error("of nothing, not everything is 0")
	}
}

// TestMicroF1IsAccuracy holds where each row has one label.
func TestMicroF1IsAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	logits, labels := tensor.New(50, 5), make([]int32, 50)
	logits.Normal(rng, 0, 1)
	for i := range labels {
		labels[i] = rng.Int32N(5)
	}
	c := train.NewConfusion(logits, labels)
	acc := train.Accuracy(logits, labels)
	if micro := train.MicroF1(c.Counts()); math.Abs(micro-acc) > 1e-15 || c.Accuracy() != acc {
		t.Errorf("micro F1 is %v, the accuracy %v and %v", micro, acc, c.Accuracy())
	}
}

func TestCountLabels(t *testing.T) {
	nan := tensor.Float(math.NaN())
	logits := tensor.Of([]tensor.Float{1, -1, 0, -2, nan, nan, 3, 3}, 4, 2)
	targets := tensor.Of([]tensor.Float{1, 0, 1, 1, 1, 0, 0, 1}, 4, 2)
	counts := train.CountLabels(logits, targets)
	for i, want := range []train.Counts{{2, 1, 1, 0}, {1, 1, 1, 1}} {
		if counts[i] != want {
			t.Errorf("class %d: %+v, want %+v", i, counts[i], want)
		}
	}
	finite, true_ := logits.RowRange(0, 2), targets.RowRange(0, 2)
	s := train.MeasureLabels(finite, true_)
	loss := 0.0
	for i, x := range finite.Data {
		p := 1 / (1 + math.Exp(-float64(x)))
		if true_.Data[i] == 0 {
			p = 1 - p
		}
		loss -= math.Log(p) / 4
	}
	if math.Abs(s.Loss-loss) > 1e-12 || s.Accuracy != train.MicroF1(train.CountLabels(finite, true_)) {
		t.Errorf("the score is %+v, want a loss of %v", s, loss)
	}
	for want, f := range map[string]func(){
		"targets of its own shape": func() { train.CountLabels(logits, tensor.New(4, 3)) },
		"train.LabelAUC":           func() { train.LabelAUC(logits, targets.RowRange(0, 3)) },
	} {
		if err := tensor.Try(f); err == nil || !errors.As(err, new(*tensor.ShapeError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v", want, err)
		}
	}
}
