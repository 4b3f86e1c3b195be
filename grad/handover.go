package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// handLeast is the number of elements from which the gradient of a product's
// result becomes that of its operand in place, rather than beside it: memory and
// the way there cost more than a copy of some rows at a time. Tests set it.
var handLeast = 1 << 20

// handsOver reports whether y's gradient may become that of x, by their shapes.
func (y *Var) handsOver(x *Var) bool {
	n := len(y.val.Data)
	return x.needs && x.csr == nil && y.base == nil && n >= handLeast && n == len(x.val.Data)
}

// handOver gives the memory of y's gradient to that of x, unless x has one or y's
// is to stay. What it holds is then still y's.
func (y *Var) handOver(x *Var) (handed bool) {
	root, _ := x.origin()
	if root.has || !y.has || y.hold || y.lent || len(root.val.Data) != len(y.val.Data) {
		return false
	}
	root.grad.Set(y.Grad().Data, root.val.Shape()...)
	root.has, root.bare = true, 0
	y.has, y.grad.Data = false, nil
	return true
}

// mayHandOver notes for [Measure] that y's gradient is handed over to x where it
// may be.
func (op Op) mayHandOver(y, x *Var) {
	if op.trace != nil && y.handsOver(x) {
		op.trace.over = x
		op.pullsLast(x)
	}
}

// turnInPlace multiplies the rows of g by the transpose of w, to the bits of a
// product beside it.
func turnInPlace(g, w *tensor.Dense) { dense.MatMulInPlace(matrix(g), w) }
