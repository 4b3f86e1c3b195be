package grad

import (
	"fmt"
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// NoLabel is the label of a row that does not count in a loss.
const NoLabel = -1

// CrossEntropy is a loss of rows of logits against one label each, with class
// weights w and smoothing s:
//
//	ℓ_i = −(1−s)·w_y·log p_iy − s/C·Σ_c w_c·log p_ic,   p = softmax(logits)
//
// The zero value is −log p_iy, and the loss is the mean over the rows, divided
// by the sum of w_y. Rows labelled NoLabel, and rows where Mask is false, are
// left out of both. A row of −Inf alone has p = 0: its loss is +Inf and its
// gradient that of p.
type CrossEntropy struct {
	Weights   []float64 // of each class; nil: all 1
	Smoothing float64   // s, from 0 to 1
	Mask      []bool    // the rows that count; nil: all
	Reduction Reduction // EachLoss gives a loss a row
}

// CrossEntropy returns the mean of −log softmax(x)_label over the rows of x; of
// no rows zero.
func (x *Var) CrossEntropy(labels []int32) *Var { return CrossEntropy{}.Of(x, labels) }

// NLL returns the mean of −x_label over the rows of x, which are logarithms of
// probabilities; of no rows zero.
func (x *Var) NLL(labels []int32) *Var { return CrossEntropy{}.OfLog(x, labels) }

// Of returns the loss of logits x, a matrix of a row for each label. It panics
// with a [*tensor.ShapeError] on a label that is neither a column nor NoLabel.
// The labels must not change until the tape's next Reset.
func (c CrossEntropy) Of(x *Var, labels []int32) *Var {
	op := Begin("CrossEntropy", x)
	c.check("CrossEntropy", x, labels)
	logp := x.val // its shape
	logp.Data = op.Floats(len(x.val.Data))
	y := op.New(c.shape(labels)...)
	factor := 0.0
	if !op.Dry(0) {
		d := x.Dim(1)
		par.For(len(labels), rowGrain(d), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if c.counts(i, labels[i]) {
					simd.LogSoftmax(logp.Data[i*d:i*d+d], x.val.Data[i*d:i*d+d])
				}
			}
		})
		factor = c.forward(y, &logp, labels)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		c.pull(labels, x.Grad(), dy, factor, func(dx []tensor.Float, i int, g float64) {
			withRow(len(dx), func(p []tensor.Float) { c.pullLogits(dx, p, logp.Row(i), int(labels[i]), g) })
		})
	})
}

// OfLog is Of where x holds log p already: the negative log-likelihood.
func (c CrossEntropy) OfLog(x *Var, labels []int32) *Var {
	op := Begin("NLL", x)
	c.check("NLL", x, labels)
	y := op.New(c.shape(labels)...)
	factor := 0.0
	if !op.Dry(0) {
		factor = c.forward(y, &x.val, labels)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		c.pull(labels, x.Grad(), dy, factor, func(dx []tensor.Float, i int, g float64) {
			for j := range dx {
				dx[j] -= tensor.Float(g * c.target(j, int(labels[i]), len(dx)))
			}
		})
	})
}

// shape returns the shape of the loss.
func (c CrossEntropy) shape(labels []int32) []int {
	if c.Reduction == EachLoss {
		return []int{len(labels)}
	}
	return []int{1}
}

// counts reports whether row i does.
func (c CrossEntropy) counts(i int, label int32) bool {
	return label != NoLabel && (c.Mask == nil || c.Mask[i])
}

// forward works out the loss y and returns what gradients are multiplied by.
func (c CrossEntropy) forward(y *Var, logp *tensor.Dense, labels []int32) float64 {
	loss, total := 0.0, 0.0
	for i, l := range labels {
		if !c.counts(i, l) {
			continue
		}
		ℓ := c.row(logp.Row(i), int(l))
		if c.Reduction == EachLoss {
			y.val.Data[i] = tensor.Float(ℓ)
		}
		loss += ℓ
		total += c.weight(int(l))
	}
	if c.Reduction == EachLoss {
		return 1
	}
	factor := c.Reduction.factor(total, len(labels))
	y.val.Data[0] = tensor.Float(loss * factor)
	return factor
}

// row returns the loss of one row.
func (c CrossEntropy) row(logp []tensor.Float, label int) float64 {
	loss := -(1 - c.Smoothing) * c.weight(label) * float64(logp[label])
	if c.Smoothing > 0 {
		for j, v := range logp {
			loss -= c.Smoothing / float64(len(logp)) * c.weight(j) * float64(v)
		}
	}
	return loss
}

// pull calls row with the gradient of every row that counts, and what to
// multiply by there.
func (c CrossEntropy) pull(labels []int32, dx, dy *tensor.Dense, factor float64, row func(dx []tensor.Float, i int, g float64)) {
	d := dx.Dim(1)
	par.For(len(labels), rowGrain(d), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if c.counts(i, labels[i]) {
				row(dx.Data[i*d:i*d+d], i, factor*float64(dy.Data[min(i, len(dy.Data)-1)]))
			}
		}
	})
}

// pullLogits adds g·∂ℓ/∂x of one row: with t_c the target weight of class c, it
// is p_c·Σt − t_c.
func (c CrossEntropy) pullLogits(dx, p, logp []tensor.Float, label int, g float64) {
	simd.Exp.Forward(p, logp, 0)
	d, sum := len(p), c.target(label, label, len(p))
	if c.Smoothing > 0 {
		sum = 0
		for j := range p {
			sum += c.target(j, label, d)
		}
	}
	for j, v := range p {
		dx[j] += tensor.Float(g * (float64(v)*sum - c.target(j, label, d)))
	}
}

// target returns t_j: what −log p_j is multiplied by in a row of that label.
func (c CrossEntropy) target(j, label, classes int) (t float64) {
	if c.Smoothing > 0 {
		t = c.Smoothing / float64(classes) * c.weight(j)
	}
	if j == label {
		t += (1 - c.Smoothing) * c.weight(j)
	}
	return t
}

func (c CrossEntropy) weight(class int) float64 {
	if c.Weights == nil {
		return 1
	}
	return c.Weights[class]
}

func (c CrossEntropy) check(op string, x *Var, labels []int32) {
	bad := func(why string) {
		panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(x.Shape()), {len(labels)}}, Why: why})
	}
	checkLabels(op, x, labels)
	if c.Weights != nil && len(c.Weights) != x.Dim(1) {
		bad(fmt.Sprintf("%d class weights", len(c.Weights)))
	}
	if c.Mask != nil && len(c.Mask) != len(labels) {
		bad(fmt.Sprintf("a mask of %d rows", len(c.Mask)))
	}
}

func badLabel(op string, x *Var, row int, label int32) error {
	return &tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("label %d of row %d is no class", label, row)}
}

// rowGrain is how many rows of d elements a thread takes at once.
func rowGrain(d int) int { return max(1, 1<<12/max(1, d)) }

var rows = sync.Pool{New: func() any { return new([]tensor.Float) }}

// withRow calls f with d elements of scratch, for a loop on several threads.
func withRow(d int, f func(buf []tensor.Float)) {
	p := rows.Get().(*[]tensor.Float)
	if cap(*p) < d {
		*p = make([]tensor.Float, d)
	}
	f((*p)[:d])
	rows.Put(p)
}
