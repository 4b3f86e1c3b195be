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
	if last := slices.Concat([]int{0}, ends); !slices.IsSorted(last) || last[len(ends)] != x.Dim(0) {
		panic(&tensor.ShapeError{Op: "grad.MatMulGroups", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(ends)}, Why: "the ends of the groups do not rise to the number of rows"})
	}
	y := op.Fresh(x.Dim(0), w.Dim(2))
	n := Notes[groupsNotes](op)
	*n = groupsNotes{x, w, ends}
	if !op.Dry(0) {
		n.each(&y.val, func(k int, x, y *tensor.Dense) {
			tensor.MatMulThen(y, x, n.matrix(&w.val, k), 0, tensor.Epilogue{})
		})
	}
	return op.RecordBy(y, n)
}

// groupsNotes is the pullback of products of groups.
type groupsNotes struct {
	x, w *Var
	ends []int
}

// matrix returns matrix k of w, or of its gradient.
func (n *groupsNotes) matrix(w *tensor.Dense, k int) *tensor.Dense {
	return w.RowRange(k, k+1).Reshape(w.Dim(1), w.Dim(2))
}

// each calls f with each group of rows of x and y, which there are some of.
func (n *groupsNotes) each(y *tensor.Dense, f func(k int, x, y *tensor.Dense)) {
	lo := 0
	for k, hi := range n.ends {
		if hi > lo {
			f(k, n.x.val.RowRange(lo, hi), y.RowRange(lo, hi))
		}
		lo = hi
	}
}

// Pull adds to the gradients of x and w.
func (n *groupsNotes) Pull(dy *tensor.Dense) {
	if dx, fresh := n.x.FreshGrad(); dx != nil {
		lo := 0
		for k, hi := range n.ends {
			if hi > lo {
				collect(dx.RowRange(lo, hi), dy.RowRange(lo, hi), n.matrix(&n.w.val, k), into{tensor.TransB, fresh})
			}
			lo = hi
		}
	}
	dw, fresh := n.w.FreshGrad()
	if dw == nil {
		return
	}
	if fresh { // groups without rows
		clear(dw.Data)
	}
	n.each(dy, func(k int, x, dy *tensor.Dense) { collect(n.matrix(dw, k), x, dy, into{tensor.TransA, false}) })
}
