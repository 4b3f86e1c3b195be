package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Hinge is the margin loss of rows of scores against one label each,
//
//	ℓ_i = 1/C·Σ_{c≠y} max(0, margin − x_iy + x_ic)
//
// Rows labelled NoLabel do not count.
type Hinge struct {
	Margin    float64 // 0 means 1
	Reduction Reduction
}

// Of returns the loss of scores x, a matrix of a row for each label. It panics
// with a [*tensor.ShapeError] on a label that is neither a column nor NoLabel.
func (h Hinge) Of(x *Var, labels []int32) *Var {
	op := Begin("Hinge", x)
	checkLabels("Hinge", x, labels)
	h.Margin = Preset(h.Margin, 1)
	n := 1
	if h.Reduction == EachLoss {
		n = len(labels)
	}
	y := op.New(n)
	loss, counted := 0.0, 0.0
	for i, l := range labels {
		if l == NoLabel {
			continue
		}
		ℓ := h.row(x.val.Row(i), nil, int(l), 0)
		if h.Reduction == EachLoss {
			y.val.Data[i] = tensor.Float(ℓ)
		}
		loss += ℓ
		counted++
	}
	factor := h.Reduction.factor(counted, len(labels))
	if h.Reduction != EachLoss {
		y.val.Data[0] = tensor.Float(loss * factor)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad()
		for i, l := range labels {
			if l != NoLabel {
				h.row(x.val.Row(i), dx.Row(i), int(l), factor*float64(dy.Data[min(i, len(dy.Data)-1)]))
			}
		}
	})
}

// row returns the loss of one row and, if dx is not nil, adds g times its
// gradient there.
func (h Hinge) row(x, dx []tensor.Float, label int, g float64) (loss float64) {
	share := 1 / float64(len(x))
	for c, v := range x {
		d := h.Margin - float64(x[label]) + float64(v)
		if c == label || d <= 0 {
			continue
		}
		loss += d * share
		if dx != nil {
			dx[c] += tensor.Float(g * share)
			dx[label] -= tensor.Float(g * share)
		}
	}
	return loss
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
