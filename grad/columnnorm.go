package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Affine holds what a normalisation learns for each column; what is nil is left
// out.
type Affine struct {
	Gain, Bias *Var
	Shift      *Var // how much of the mean is taken off
}

// GraphNorm normalises each column over each graph of a batch; rows offsets[i] to
// offsets[i+1] are graph i. A learnt part of the mean is taken off:
//
//	o = x − shift·mean,   y = o/√(mean(o²) + eps)·gain + bias
//
// Nil stands for a shift and gain of 1 and a bias of 0. Cai et al. 2021,
// "GraphNorm: A Principled Approach to Accelerating Graph Neural Network
// Training".
func (x *Var) GraphNorm(offsets []int, c Affine, eps float64) *Var {
	if offsets == nil {
		offsets = []int{} // nil is one range
	}
	y, _ := x.columnNorm("GraphNorm", c, dense.ColumnNorm{Offsets: offsets, Eps: eps})
	return y
}

// checkOffsets panics unless offsets cut n rows into ranges.
func checkOffsets(op string, n int, offsets []int) {
	ok := len(offsets) > 0 && offsets[0] == 0 && offsets[len(offsets)-1] == n
	if !ok || !slices.IsSorted(offsets) {
		panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{{n}, slices.Clone(offsets)}, Why: fmt.Sprintf("the offsets must rise from 0 to the number of rows, %d", n)})
	}
}

// columnNotes is the pullback of a normalisation of columns.
type columnNotes struct {
	of     normed
	kernel dense.ColumnNorm
	all    [2]int // the offsets of one range of all rows
}

// columnNorm records a normalisation of the columns of x, and returns it with the
// means and scales that it used. kernel has the offsets, or none if all rows are one
// range, Eps, and if they are Fixed the means and scales.
func (x *Var) columnNorm(name string, c Affine, kernel dense.ColumnNorm) (*Var, *dense.ColumnNorm) {
	of := normed{x, c.Gain, c.Bias, c.Shift}
	op := of.begin(name)
	notes := Notes[columnNotes](op)
	*notes = columnNotes{of: of, kernel: kernel}
	n, rows := &notes.kernel, leading(x.val.Shape())
	if n.Offsets == nil {
		notes.all[1] = rows
		n.Offsets = notes.all[:]
	}
	checkOffsets(name, rows, n.Offsets)
	n.X, n.D = x.val.Data, x.Dim(-1)
	n.Gain, n.Bias, n.Shift = dataOf(c.Gain), dataOf(c.Bias), dataOf(c.Shift)
	y := op.freshLike(x)
	size := (len(n.Offsets) - 1) * n.D
	if !n.Fixed {
		room := op.FreshFloats(2 * size)
		n.Mean, n.Scale = room[:size], room[size:]
	}
	if n.Shift != nil {
		n.Shifted = op.FreshFloats(size)
	}
	if !op.Dry(0) {
		n.Forward(y.val.Data)
	}
	return op.RecordBy(y, notes), n
}

// Pull adds to the gradients of x, gain, bias and shift.
func (n *columnNotes) Pull(dy *tensor.Dense) { n.kernel.Backward(n.of.grads(), dy.Data) }
