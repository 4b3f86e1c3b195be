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
	n := logits.RowLen()
	c := &Confusion{classes: n, counts: make([]int, n*(n+1))}
	labelled{logits, labels}.each("train.NewConfusion", func(row []tensor.Float, label int) {
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
func (c *Confusion) At(truth, predicted int) int { return c.counts[truth*(c.classes+1)+predicted] }

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
