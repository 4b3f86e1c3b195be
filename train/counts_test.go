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
