package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
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
	n := notes[hingeNotes](op)
	*n = hingeNotes{x: x, kernel: dense.Hinge{X: x.val.Data, Classes: x.Dim(1), Labels: labels, Margin: Preset(h.Margin, 1)}}
	y := op.New(h.Reduction.losses(len(labels)))
	loss, count := n.kernel.Forward(h.Reduction.each(y))
	n.factor = h.Reduction.reduce(y, loss, count, len(labels))
	return op.recordBy(y, n)
}

// hingeNotes is the pullback of a margin loss.
type hingeNotes struct {
	x      *Var
	kernel dense.Hinge
	factor float64 // of all gradients
}

// Pull adds to x's gradient.
func (n *hingeNotes) Pull(dy *tensor.Dense) { n.kernel.Backward(n.x.Grad().Data, dy.Data, n.factor) }
