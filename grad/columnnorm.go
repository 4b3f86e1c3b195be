package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
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
	y      *Var   // of a ReLU of the norm: its result
	from   *late  // of the same: of the norm, which was taken along
}

// columnNorm records a normalisation of the columns of x, and returns it with the
// means and scales that it used. kernel has the offsets, or none if all rows are one
// range, Eps, and if they are Fixed the means and scales.
func (x *Var) columnNorm(name string, c Affine, kernel dense.ColumnNorm) (*Var, *dense.ColumnNorm) {
	of := normed{x, c.Gain, c.Bias, c.Shift}
	op := of.begin(name)
	back := notes[columnNotes](op)
	*back = columnNotes{of: of, kernel: kernel}
	n, rows := &back.kernel, leading(x.val.Shape())
	if n.Offsets == nil {
		back.all[1] = rows
		n.Offsets = back.all[:]
	}
	checkOffsets(name, rows, n.Offsets)
	n.X, n.D = x.val.Data, x.Dim(-1)
	n.Gain, n.Bias, n.Shift = dataOf(c.Gain), dataOf(c.Bias), dataOf(c.Shift)
	y := op.freshLike(x)
	size := (len(n.Offsets) - 1) * n.D
	if !n.Fixed {
		room := op.freshFloats(2 * size)
		n.Mean, n.Scale = room[:size], room[size:]
	}
	if n.Shift != nil {
		n.Shifted = op.freshFloats(size)
	}
	if back.waits(op) {
		if !op.dry(0) {
			n.Moments()
		}
		return op.recordLate(y, back), n // a ReLU may come next
	}
	if !op.dry(0) {
		n.Forward(y.val.Data)
	}
	return op.recordBy(y, back), n
}

// waits reports whether the norm of a layer in training, of all rows, may wait until the
// next operation. Its gain and bias are copied then.
func (n *columnNotes) waits(op Op) bool {
	k, row := &n.kernel, [...]*Var{n.of.gain, n.of.bias}
	if k.Fixed || k.Few() || len(k.Offsets) != 2 || n.of.shift != nil || row[0] == nil || row[1] == nil || !op.tape.Recording() || n.of.x.leaf() || !op.own(row[:]) {
		return false
	}
	k.Gain, k.Bias = dataOf(row[0]), dataOf(row[1])
	return true
}

// Run implements [deferred].
func (n *columnNotes) Run(op Op, y *Var) {
	if !op.measuring() {
		n.kernel.Write(y.val.Data)
	}
}

// took implements [taker].
func (n *columnNotes) took() string {
	if n.from != nil {
		return n.from.op.name
	}
	return ""
}

// reluAlong returns the ReLU of x if that is a norm that waits: both are one pass over
// rows, and two over their gradient. Else it returns nil.
func (x *Var) reluAlong() *Var {
	l := x.along()
	if l == nil || l.out != x {
		return nil
	}
	norm, ok := l.of.(*columnNotes)
	if !ok {
		return nil
	}
	y := l.takeWaiting()
	if y == nil {
		return nil
	}
	op := l.begin("ReLU", x)
	z := op.over(y.val.Data, x.val.Shape())
	n := notes[columnNotes](op)
	*n = *norm
	n.y, n.from, n.kernel.ReLU = z, l, true
	n.Run(op, z)
	return op.recordBy(z, n)
}

// Pull adds to the gradients of x, gain, bias and shift.
func (n *columnNotes) Pull(dy *tensor.Dense) {
	if n.from != nil && n.from.apart {
		(&unaryNotes{n.from.out, n.from.out, n.y, kernel{vec.ReLU, 0}}).Pull(dy)
		return
	}
	to := dense.NormGrads{Gain: gradOf(n.of.gain), Bias: gradOf(n.of.bias), Shift: gradOf(n.of.shift)}
	if dx, fresh := n.of.x.freshGrad(); dx != nil {
		to.X, to.SetX = dx.Data, fresh
	}
	n.kernel.Backward(to, dy.Data)
}
