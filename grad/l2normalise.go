package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// L2Normalise divides each row along the last axis by its Euclidean length, which
// is summed in float64. A row of zeros stays and gets no gradient.
func (x *Var) L2Normalise() *Var {
	op := Begin("L2Normalise", x)
	y := op.newLike(x)
	n := notes[unitNotes](op)
	*n = unitNotes{x, dense.UnitRows{X: x.val.Data, D: x.Dim(-1), Y: y.val.Data, Inverse: op.Floats(leading(x.Shape()))}}
	if !op.dry(0) {
		n.kernel.Forward()
	}
	return op.recordBy(y, n)
}

// unitNotes is the pullback of rows that were divided by their lengths.
type unitNotes struct {
	x      *Var
	kernel dense.UnitRows
}

// Pull adds to x's gradient.
func (n *unitNotes) Pull(dy *tensor.Dense) { n.kernel.Backward(n.x.Grad().Data, dy.Data) }
