package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// MatMulGroups multiplies groups of rows of the matrix x with a matrix each, K×In×Out:
// rows ends[k−1] to ends[k] of the result, the first from 0 on, are those of x times w[k].
// The last group ends with x. The list must not change until the tape's next Reset.
func (x *Var) MatMulGroups(w *Var, ends []int) *Var {
	op := Begin("MatMulGroups", x, w)
	if x.Value().Axes() != 2 || w.Value().Axes() != 3 || x.Dim(1) != w.Dim(1) || len(ends) != w.Dim(0) {
		panic(tensor.Mismatch("grad.MatMulGroups", x, w))
	}
	last := 0
	for _, end := range ends {
		if end < last {
			last = x.Dim(0) + 1
		}
		last = max(last, end)
	}
	if last != x.Dim(0) {
		panic(&tensor.ShapeError{Op: "grad.MatMulGroups", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(ends)}, Why: "the ends of the groups do not rise to the number of rows"})
	}
	y := op.Fresh(x.Dim(0), w.Dim(2))
	n := notes[groupsNotes](op)
	n.x, n.w, n.ends = x, w, ends
	if !op.dry(0) {
		for k := range ends {
			if n.group(k, &y.val, &w.val) {
				tensor.MatMulThen(&n.y, &n.rows, &n.matrix, 0, tensor.Epilogue{})
			}
		}
	}
	return op.recordBy(y, n)
}

// groupsNotes is the pullback of products of groups.
type groupsNotes struct {
	x, w *Var
	ends []int

	rows, y, matrix tensor.Dense // of one group
}

// group sets what belongs to group k: rows of x and of y or its gradient, and a matrix of w
// or of its gradient. It reports whether there are rows.
func (n *groupsNotes) group(k int, y, w *tensor.Dense) bool {
	lo, hi := 0, n.ends[k]
	if k > 0 {
		lo = n.ends[k-1]
	}
	in, out := w.Dim(1), w.Dim(2)
	n.rows.Set(n.x.val.Data[lo*in:hi*in], hi-lo, in)
	n.y.Set(y.Data[lo*out:hi*out], hi-lo, out)
	n.matrix.Set(w.Data[k*in*out:(k+1)*in*out], in, out)
	return hi > lo
}

// Pull adds to the gradients of x and w.
func (n *groupsNotes) Pull(dy *tensor.Dense) {
	if dx, fresh := n.x.freshGrad(); dx != nil {
		in := dx.Dim(1)
		for k, hi := range n.ends {
			if n.group(k, dy, &n.w.val) {
				lo := hi - n.rows.Dim(0)
				n.rows.Set(dx.Data[lo*in:hi*in], hi-lo, in)
				collect(&n.rows, &n.y, &n.matrix, into{tensor.TransB, fresh})
			}
		}
	}
	dw, fresh := n.w.freshGrad()
	if dw == nil {
		return
	}
	for k := range n.ends {
		switch {
		case n.group(k, dy, dw):
			collect(&n.matrix, &n.rows, &n.y, into{tensor.TransA, fresh})
		case fresh:
			clear(n.matrix.Data)
		}
	}
}
