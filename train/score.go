package train

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Score says how good predictions are.
type Score struct{ Loss, Accuracy float64 }

// Scores are those of the three parts of a dataset.
type Scores struct{ Train, Val, Test Score }

// Measure returns the mean cross-entropy and the accuracy of the given rows of
// logits. labels has one label for each row of logits, not for each of rows.
// Rows labelled [grad.NoLabel] do not count; of none both are 0.
func Measure(logits *tensor.Dense, labels, rows []int32) Score {
	return Score{Loss: CrossEntropy(logits, labels, rows), Accuracy: Accuracy(logits, labels, rows)}
}

// Accuracy returns the fraction of the given rows of logits whose largest
// element is the one of the label. labels has one label for each row of logits,
// not for each of rows. Ties go to the lowest class, and a row with a NaN is
// wrong. Rows labelled [grad.NoLabel] do not count; of none it is 0.
func Accuracy(logits *tensor.Dense, labels, rows []int32) float64 {
	return mean("train.Accuracy", labelled{logits, labels, rows}, func(row []tensor.Float, label int) float64 {
		if argMax(row) == label {
			return 1
		}
		return 0
	})
}

// CrossEntropy returns the mean of −log softmax(row)_label over the given rows
// of logits, added up in float64. Its arguments are those of [Accuracy].
func CrossEntropy(logits *tensor.Dense, labels, rows []int32) float64 {
	e := entropies.Get().(*entropy)
	defer entropies.Put(e)
	e.sum, e.buf, e.heads = 0, e.buf[:0], e.heads[:0] // the last call may have panicked
	n := 0
	labelled{logits, labels, rows}.each("train.CrossEntropy", func(row []tensor.Float, label int) {
		e.add(row, label)
		n++
	})
	e.flush()
	return e.sum / float64(max(1, n))
}

// MeasureLabels is [Measure] where a row may have any number of labels: the mean
// binary cross-entropy of all elements, and MicroF1 as the accuracy. Its
// arguments are those of [CountLabels].
func MeasureLabels(logits, targets *tensor.Dense, rows []int32) Score {
	sum, n := 0.0, 0
	tagged{logits, targets, rows}.each("train.MeasureLabels", func(x, y []tensor.Float) {
		for i := range x {
			v := float64(x[i])
			sum += math.Max(v, 0) - v*float64(y[i]) + math.Log1p(math.Exp(-math.Abs(v)))
		}
		n += len(x)
	})
	return Score{Loss: sum / float64(max(1, n)), Accuracy: MicroF1(CountLabels(logits, targets, rows))}
}

// labelled are rows of logits that have one label each.
type labelled struct {
	logits       *tensor.Dense
	labels, rows []int32
}

// mean returns the mean of f over the rows that have a label.
func mean(op string, d labelled, f func(row []tensor.Float, label int) float64) float64 {
	sum, n := 0.0, 0
	d.each(op, func(row []tensor.Float, label int) {
		sum += f(row, label)
		n++
	})
	return sum / float64(max(1, n))
}

// each calls f with the rows that have a label.
func (d labelled) each(op string, f func(row []tensor.Float, label int)) {
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(d.logits.Shape()), {len(d.labels)}}, Why: why})
	}
	if d.logits.Axes() != 2 || d.logits.Rows() != len(d.labels) {
		bad("a matrix needs a label for each row")
	}
	for _, r := range d.rows {
		if uint(r) >= uint(len(d.labels)) {
			bad(fmt.Sprintf("there is no row %d", r))
		}
		label := d.labels[r]
		if label == grad.NoLabel {
			continue
		}
		if uint(label) >= uint(d.logits.RowLen()) {
			bad(fmt.Sprintf("label %d of row %d is no class", label, r))
		}
		f(d.logits.Row(int(r)), int(label))
	}
}

// tagged are rows of logits that have any number of labels each.
type tagged struct {
	logits, targets *tensor.Dense
	rows            []int32
}

// each calls f with the rows of both.
func (d tagged) each(op string, f func(x, y []tensor.Float)) {
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{slices.Clone(d.logits.Shape()), slices.Clone(d.targets.Shape())}, Why: why})
	}
	if d.logits.Axes() != 2 || !slices.Equal(d.logits.Shape(), d.targets.Shape()) {
		bad("a matrix needs targets of its own shape")
	}
	for _, r := range d.rows {
		if uint(r) >= uint(d.logits.Rows()) {
			bad(fmt.Sprintf("there is no row %d", r))
		}
		f(d.logits.Row(int(r)), d.targets.Row(int(r)))
	}
}

// argMax returns the index of the first largest element, −1 if one is NaN.
func argMax(row []tensor.Float) int {
	best := 0
	for i, v := range row {
		if v != v {
			return -1
		}
		if v > row[best] {
			best = i
		}
	}
	return best
}
