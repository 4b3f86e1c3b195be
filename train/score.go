package train

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Score says how good predictions are.
type Score struct {
	Loss, Accuracy float64
	Empty          bool // there was no row to score, so the rest says nothing; not in a checkpoint
}

// Scores are those of the three parts of a dataset.
type Scores struct{ Train, Val, Test Score }

// Measure returns the mean cross-entropy, added up in float64, and the accuracy of logits,
// whose row i has labels[i], as in [grad.Var.CrossEntropy]. Rows labelled [grad.NoLabel] do not count.
// If no row counts, both are 0 and the Score is Empty. To score a part of a dataset,
// give its rows and their labels: net.Forward(nil, g, x).Rows(split.Val).Value() and
// labels.Of(split.Val).
func Measure(logits *tensor.Dense, labels []int32) Score {
	return labelled{logits, labels}.tally("train.Measure", true)
}

// Accuracy returns the fraction of rows whose largest element is that of their label.
// Its arguments are those of [Measure]. Ties go to the lowest class, and a row with a
// NaN is wrong. Rows labelled [grad.NoLabel] do not count; of none it is 0.
func Accuracy(logits *tensor.Dense, labels []int32) float64 {
	return labelled{logits, labels}.tally("train.Accuracy", false).Accuracy
}

// Majority returns the share of the most frequent label: the accuracy of always giving
// that label, with which every other is to be compared. Labels that are
// [grad.NoLabel] do not count; of none it is 0.
func Majority(labels []int32) float64 {
	of, most, all := map[int32]int{}, 0, 0
	for i, label := range labels {
		if label != grad.NoLabel {
			if label < 0 {
				panic(&tensor.ShapeError{Op: "train.Majority", Shapes: [][]int{{len(labels)}}, Why: fmt.Sprintf("label %d of row %d is no class", label, i)})
			}
			of[label]++
			all++
			most = max(most, of[label])
		}
	}
	return ratio(most, all)
}

// MeasureLabels is [Measure] where a row may have any number of labels: the mean
// binary cross-entropy of all elements that are known, and MicroF1 as the accuracy.
// Its arguments are those of [CountLabels].
func MeasureLabels(logits, targets *tensor.Dense) Score {
	d, sum, n := tagged{logits, targets}, 0.0, 0
	counts := d.counts("train.MeasureLabels")
	d.each(func(x, y []tensor.Float) {
		for i := range x {
			if y[i] != y[i] { // not known
				continue
			}
			v := float64(x[i])
			sum += math.Max(v, 0) - v*float64(y[i]) + math.Log1p(math.Exp(-math.Abs(v)))
			n++
		}
	})
	return Score{Loss: sum / float64(max(1, n)), Accuracy: MicroF1(counts), Empty: n == 0}
}

// labelled are rows of logits that have one label each.
type labelled struct {
	logits *tensor.Dense
	labels []int32
}

// each calls f with the rows that have a label.
func (d labelled) each(f func(row []tensor.Float, label int)) {
	for i, label := range d.labels {
		if label != grad.NoLabel {
			f(d.logits.Row(i), int(label))
		}
	}
}

// check panics unless the rows and their labels are there.
func (d labelled) check(op string) {
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{shapeOf(d.logits), {len(d.labels)}}, Why: why})
	}
	if d.logits == nil || d.logits.Axes() != 2 || d.logits.Rows() != len(d.labels) {
		bad("a matrix needs a label for each row")
	}
	for i, label := range d.labels {
		if label != grad.NoLabel && uint(label) >= uint(d.logits.RowLen()) {
			bad(fmt.Sprintf("label %d of row %d is no class", label, i))
		}
	}
}

// tagged are rows of logits that have any number of labels each.
type tagged struct{ logits, targets *tensor.Dense }

// each calls f with the rows of both.
func (d tagged) each(f func(x, y []tensor.Float)) {
	for i := range d.logits.Rows() {
		f(d.logits.Row(i), d.targets.Row(i))
	}
}

// check panics unless both are matrices of one shape.
func (d tagged) check(op string) {
	if d.logits == nil || d.targets == nil || d.logits.Axes() != 2 || !slices.Equal(d.logits.Shape(), d.targets.Shape()) {
		panic(&tensor.ShapeError{Op: op, Shapes: [][]int{shapeOf(d.logits), shapeOf(d.targets)}, Why: "a matrix needs targets of its own shape"})
	}
}

// shapeOf returns the shape of an array for an error, none of nil.
func shapeOf(x *tensor.Dense) []int {
	if x == nil {
		return nil
	}
	return slices.Clone(x.Shape())
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

// tally scores rows in parts, whose sums are added in order.
type tally struct {
	labelled
	losses bool // the loss is wanted too
	parts  []tallied
}

// tallied is the score of a part.
type tallied struct {
	loss     float64
	right, n int
}

// tallyRows is how many rows make a part: some microseconds.
const tallyRows = 256

var tallies = sync.Pool{New: func() any { return new(tally) }}

// tally returns the score of the rows that have a label.
func (d labelled) tally(op string, losses bool) Score {
	d.check(op)
	t := tallies.Get().(*tally)
	n := (len(d.labels) + tallyRows - 1) / tallyRows
	t.labelled, t.losses, t.parts = d, losses, slices.Grow(t.parts[:0], n)[:n]
	par.Run(n, t)
	var all tallied
	for _, p := range t.parts {
		all.loss += p.loss
		all.right += p.right
		all.n += p.n
	}
	t.labelled = labelled{}
	tallies.Put(t)
	count := float64(max(1, all.n))
	return Score{Loss: all.loss / count, Accuracy: float64(all.right) / count, Empty: all.n == 0}
}

// Chunk scores one part.
func (t *tally) Chunk(i int) {
	e := entropies.Get().(*entropy)
	var p tallied
	for r := i * tallyRows; r < min((i+1)*tallyRows, len(t.labels)); r++ {
		label := int(t.labels[r])
		if label == grad.NoLabel {
			continue
		}
		p.n++
		row := t.logits.Row(r)
		top := row[0]
		for _, v := range row[1:] {
			top = max(top, v) // NaN if there is one
		}
		if row[label] == top && !slices.Contains(row[:label], top) {
			p.right++
		}
		if t.losses {
			e.add(row, top)
			p.loss += float64(top) - float64(row[label])
		}
	}
	p.loss += e.logs()
	t.parts[i] = p
	entropies.Put(e)
}

// entropy adds up log Σ exp(row − top). It collects rows and takes the
// exponentials of many at once, since those of one would be a call each.
type entropy struct {
	buf    []tensor.Float // rows, less their largest element
	widths []int          // of the rows in buf
	total  float64        // the sum of those before
}

// entropyRoom is about how many elements are collected.
const entropyRoom = 1 << 10

var entropies = sync.Pool{New: func() any { return new(entropy) }}

// add counts one row and its largest element.
func (e *entropy) add(row []tensor.Float, top tensor.Float) {
	for _, v := range row {
		e.buf = append(e.buf, v-top)
	}
	if e.widths = append(e.widths, len(row)); len(e.buf) >= entropyRoom {
		e.flush()
	}
}

// flush adds up what was collected. A logarithm is taken of the product of the
// sums of many rows.
func (e *entropy) flush() {
	vec.Exp.Forward(e.buf, e.buf, 0)
	rest, product := e.buf, 1.0
	for _, n := range e.widths {
		sum := 0.0
		for _, v := range rest[:n] {
			sum += float64(v)
		}
		if product *= sum; !(product < 1e200) { // a sum is at most the width of a row
			e.total += math.Log(product)
			product = 1
		}
		rest = rest[n:]
	}
	e.total += math.Log(product)
	e.buf, e.widths = e.buf[:0], e.widths[:0]
}

// logs returns the sum, and begins another.
func (e *entropy) logs() float64 {
	e.flush()
	total := e.total
	e.total = 0
	return total
}
