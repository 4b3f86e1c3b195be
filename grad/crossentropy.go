package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
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
	c.check(op.name, x, labels)
	e := c.begin(op, x, labels)
	e.kernel.LogP = op.freshFloats(len(x.val.Data))
	if !op.dry(0) {
		e.kernel.SetLogP(x.val.Data)
	}
	return e.record(op)
}

// OfLog is Of where x holds log p already: the negative log-likelihood.
func (c CrossEntropy) OfLog(x *Var, labels []int32) *Var {
	op := Begin("NLL", x)
	c.check(op.name, x, labels)
	e := c.begin(op, x, labels)
	e.kernel.LogP, e.given = x.val.Data, true
	return e.record(op)
}

// entropyNotes is the pullback of a cross-entropy.
type entropyNotes struct {
	x         *Var
	kernel    dense.Entropy
	reduction Reduction
	given     bool    // x is log p
	factor    float64 // of all gradients
}

func (c CrossEntropy) begin(op Op, x *Var, labels []int32) *entropyNotes {
	e := notes[entropyNotes](op)
	*e = entropyNotes{x: x, reduction: c.Reduction, kernel: dense.Entropy{
		Classes: x.Dim(1), Labels: labels, Weights: c.Weights, Smoothing: c.Smoothing, Mask: c.Mask,
	}}
	return e
}

func (e *entropyNotes) record(op Op) *Var {
	y := op.New(e.reduction.losses(len(e.kernel.Labels)))
	if !op.dry(0) {
		loss, weight := e.kernel.Forward(e.reduction.each(y))
		e.factor = e.reduction.reduce(y, loss, weight, len(e.kernel.Labels))
	}
	return op.recordBy(y, e)
}

// Pull adds to x's gradient.
func (e *entropyNotes) Pull(dy *tensor.Dense) {
	if e.given {
		e.kernel.Backward(e.x.Grad().Data, dy.Data, e.factor)
	} else {
		e.kernel.BackwardLogits(e.x.Grad().Data, dy.Data, e.factor)
	}
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
	if !(c.Smoothing >= 0 && c.Smoothing <= 1) {
		panic(&TapeError{Op: op, Why: fmt.Sprintf("a smoothing of %v, want 0 to 1", c.Smoothing)})
	}
}

// checkLabels panics unless x is a matrix and labels has a column of it, or
// NoLabel, for each row.
func checkLabels(op string, x *Var, labels []int32) {
	if len(x.Value().Shape()) != 2 || x.Dim(0) != len(labels) {
		panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(x.Shape()), {len(labels)}}, Why: "a matrix needs a label for each row"})
	}
	for i, l := range labels {
		if l != NoLabel && uint(l) >= uint(x.Dim(1)) {
			panic(badLabel(op, x, i, l))
		}
	}
}

func badLabel(op string, x *Var, row int, label int32) error {
	return &tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("label %d of row %d is no class", label, row)}
}
