package train

import (
	"fmt"
	"strings"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Confusion counts how often each class was taken for each.
type Confusion struct {
	classes int
	counts  []int // truth × prediction, whose last column is none
}

// NewConfusion compares the largest element of each row of logits with its label.
// Its arguments are those of [Measure].
func NewConfusion(logits *tensor.Dense, labels []int32) *Confusion {
	d := labelled{logits, labels}
	d.check("train.NewConfusion")
	n := logits.RowLen()
	c := &Confusion{classes: n, counts: make([]int, n*(n+1))}
	d.each(func(row []tensor.Float, label int) {
		said := argMax(row)
		if said < 0 {
			said = n
		}
		c.counts[label*(n+1)+said]++
	})
	return c
}

// Classes returns the number of classes.
func (c *Confusion) Classes() int { return c.classes }

// At returns how many rows of a class were predicted to be of another, or of
// the same. The prediction Classes() stands for none: a row with a NaN.
func (c *Confusion) At(truth, predicted int) int {
	if truth < 0 || truth >= c.classes || predicted < 0 || predicted > c.classes {
		panic(&tensor.ShapeError{Op: "train.Confusion.At", Shapes: [][]int{{truth}, {predicted}}, Why: fmt.Sprintf("there are %d classes", c.classes)})
	}
	return c.counts[truth*(c.classes+1)+predicted]
}

// Accuracy returns the fraction of the rows that are on the diagonal.
func (c *Confusion) Accuracy() float64 {
	right, all := 0, 0
	for i := range c.classes {
		right += c.At(i, i)
	}
	for _, n := range c.counts {
		all += n
	}
	return ratio(right, all)
}

// Counts returns the counts of each class against the others.
func (c *Confusion) Counts() []Counts {
	out, all := make([]Counts, c.classes), 0
	for _, n := range c.counts {
		all += n
	}
	for k := range out {
		o := &out[k]
		o.TruePos = c.At(k, k)
		for j := range c.classes + 1 {
			o.FalseNeg += c.At(k, j)
		}
		for i := range c.classes {
			o.FalsePos += c.At(i, k)
		}
		o.FalseNeg -= o.TruePos
		o.FalsePos -= o.TruePos
		o.TrueNeg = all - o.TruePos - o.FalsePos - o.FalseNeg
	}
	return out
}

// String returns the matrix as lines of numbers, a line for each true class.
func (c *Confusion) String() string {
	width, none := 1, false
	for i, n := range c.counts {
		width = max(width, len(fmt.Sprint(n)))
		none = none || n > 0 && i%(c.classes+1) == c.classes
	}
	var b strings.Builder
	for i := range c.classes {
		for j := range c.classes + 1 {
			switch {
			case j == c.classes && !none:
			case j == 0:
				fmt.Fprintf(&b, "%*d", width, c.At(i, j))
			default:
				fmt.Fprintf(&b, " %*d", width, c.At(i, j))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Counts says of one class how often it was there and how often it was
// predicted.
type Counts struct{ TruePos, FalsePos, FalseNeg, TrueNeg int }

// Precision returns how much of what was predicted is right; 0 of nothing.
func (c Counts) Precision() float64 { return ratio(c.TruePos, c.TruePos+c.FalsePos) }

// Recall returns how much of what is there was predicted; 0 of nothing.
func (c Counts) Recall() float64 { return ratio(c.TruePos, c.TruePos+c.FalseNeg) }

// F1 returns the harmonic mean of precision and recall; 0 of nothing.
func (c Counts) F1() float64 { return ratio(2*c.TruePos, 2*c.TruePos+c.FalsePos+c.FalseNeg) }

// Accuracy returns how much of what was said of the class is right.
func (c Counts) Accuracy() float64 {
	return ratio(c.TruePos+c.TrueNeg, c.TruePos+c.TrueNeg+c.FalsePos+c.FalseNeg)
}

func ratio(a, b int) float64 { return float64(a) / float64(max(1, b)) }

// MicroF1 returns the F1 of all classes' counts together. Of one label a row it
// equals the accuracy.
func MicroF1(classes []Counts) float64 {
	var all Counts
	for _, c := range classes {
		all.TruePos += c.TruePos
		all.FalsePos += c.FalsePos
		all.FalseNeg += c.FalseNeg
	}
	return all.F1()
}

// MacroF1 returns the mean F1 of the classes. One that neither occurs nor is
// predicted does not count; of none it is 0.
func MacroF1(classes []Counts) float64 {
	sum, n := 0.0, 0
	for _, c := range classes {
		if c.TruePos+c.FalsePos+c.FalseNeg > 0 {
			sum += c.F1()
			n++
		}
	}
	return sum / float64(max(1, n))
}

// BalancedAccuracy returns the mean recall of the classes that occur, which is the
// accuracy if each class is given the same weight. Of k classes 1/k is what a
// constant answer gets. Of none it is 0.
func BalancedAccuracy(classes []Counts) float64 {
	sum, n := 0.0, 0
	for _, c := range classes {
		if c.TruePos+c.FalseNeg > 0 {
			sum += c.Recall()
			n++
		}
	}
	return sum / float64(max(1, n))
}

// CountLabels counts the classes of rows that may have any number of labels:
// targets is 1 where a row has a class and 0 where not, logits has its shape,
// and a logit of at least 0 predicts the class; a logit that is NaN is wrong either
// way. A target that is NaN is not known and does not count.
func CountLabels(logits, targets *tensor.Dense) []Counts {
	return tagged{logits, targets}.counts("train.CountLabels")
}

// counts is [CountLabels], which op calls.
func (d tagged) counts(op string) []Counts {
	d.check(op)
	counts := make([]Counts, d.logits.RowLen())
	d.each(func(x, y []tensor.Float) {
		for c, v := range x {
			if y[c] != y[c] {
				continue
			}
			there, said := y[c] != 0, v >= 0
			if v != v {
				said = !there
			}
			counts[c].add(there, said)
		}
	})
	return counts
}

func (c *Counts) add(there, said bool) {
	switch {
	case there && said:
		c.TruePos++
	case there:
		c.FalseNeg++
	case said:
		c.FalsePos++
	default:
		c.TrueNeg++
	}
}
