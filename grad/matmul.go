package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// MatMul returns the product of the matrices x and w. x may be sparse, or have
// more axes: then its last axis is multiplied and the others stay. If w has more
// axes too, as many as x, all but the last two count matrices, and each of x is
// multiplied by that of w.
func (x *Var) MatMul(w *Var) *Var {
	if y := x.keptProduct(w, nil, "", func(x, w, _ *Var) *Var { return x.MatMul(w) }); y != nil {
		return y
	}
	op := Begin("MatMul", x, w)
	sh := x.Shape()
	k := sh[len(sh)-1]
	if len(w.Value().Shape()) > 2 && x.csr == nil {
		return op.batch(x, w, 0)
	}
	if len(w.val.Shape()) != 2 || k != w.Dim(0) {
		panic(tensor.Mismatch("grad.MatMul", x, w))
	}
	if op.tape.joins(x, w) {
		return op.recordProduct(x, w)
	}
	if op.tape.shares(w) && x.csr == nil {
		return op.tape.loop.weight(w).times(op, x, nil)
	}
	var room extents
	out := append(room[:0], sh...)
	out[len(out)-1] = w.Dim(1)
	y := op.Fresh(out...)
	op.mayHandOver(y, x)
	switch {
	case op.dry(0):
	case x.csr == nil:
		op.multiply(&y.val, x, w, tensor.Epilogue{})
	default:
		multiply(&y.val, x, w)
	}
	n := notes[productNotes](op)
	*n = productNotes{x, w, y}
	return op.recordBy(y, n)
}

// productNotes is the pullback of y = x·w.
type productNotes struct{ x, w, y *Var }

// Pull adds to the gradients of x and w.
func (n *productNotes) Pull(dy *tensor.Dense) { pullResult(n.y, n.x, n.w, dy) }

// MatMulT returns the product of x and w with the last two axes of w exchanged:
// of rows with rows. Both are matrices, or have as many axes more, which count
// matrices.
func (x *Var) MatMulT(w *Var) *Var {
	op := Begin("MatMulT", x, w)
	return op.batch(x, w, tensor.TransB)
}

// multiply sets y to the product of x, dense or sparse, and the matrix w.
func multiply(y *tensor.Dense, x, w *Var) {
	if x.csr != nil {
		sparse.Product{A: x.csr}.Into(y, &w.val)
		return
	}
	tensor.MatMulThen(matrix(y), matrix(&x.val), &w.val, 0, tensor.Epilogue{})
}

// pullProduct adds the gradients of multiply.
func pullProduct(x, w *Var, dy *tensor.Dense) {
	if x.csr != nil {
		if dw, fresh := w.freshGrad(); dw != nil {
			sparse.Product{A: x.csr, Transpose: true, Add: !fresh}.Into(dw, dy)
		}
		return
	}
	dy = matrix(dy)
	pullFactor(x, w, dy)
	if dw, fresh := w.freshGrad(); dw != nil {
		collect(dw, matrix(&x.val), dy, into{tensor.TransA, fresh})
	}
}

// pullFactor adds the gradient of a dense x alone.
func pullFactor(x, w *Var, dy *tensor.Dense) {
	if dx, fresh := x.freshGrad(); dx != nil {
		collect(matrix(dx), dy, &w.val, into{tensor.TransB, fresh})
	}
}

// pullResult is pullProduct for the gradient of y, whose memory may become that
// of x's.
func pullResult(y, x, w *Var, dy *tensor.Dense) {
	if !y.handsOver(x) {
		pullProduct(x, w, dy)
		return
	}
	if dw, fresh := w.freshGrad(); dw != nil {
		collect(dw, matrix(&x.val), matrix(dy), into{tensor.TransA, fresh})
	}
	g := *dy
	if y.handOver(x) {
		turnInPlace(&g, &w.val)
	} else {
		pullFactor(x, w, matrix(dy))
	}
}

// into says how a product goes into a gradient, which holds anything if it is
// fresh.
type into struct {
	flags tensor.Flags
	fresh bool
}

// collect adds the product of a and b to a gradient.
func collect(g, a, b *tensor.Dense, how into) {
	if how.fresh {
		tensor.MatMulThen(g, a, b, how.flags, tensor.Epilogue{})
	} else {
		tensor.MatMul(g, a, b, how.flags)
	}
}

// batch is the product of arrays of matrices, the second ones transposed if f
// is TransB.
func (op Op) batch(x, w *Var, f tensor.Flags) *Var {
	xs, ws := x.Value().Shape(), w.Value().Shape()
	n := len(xs) - 2
	if n < 0 || len(ws) != len(xs) || !slices.Equal(xs[:n], ws[:n]) {
		panic(tensor.Mismatch("grad."+op.name, x, w))
	}
	k, m := ws[n], ws[n+1]
	if f == tensor.TransB {
		k, m = m, k
	}
	if xs[n+1] != k {
		panic(tensor.Mismatch("grad."+op.name, x, w))
	}
	var room extents
	out := append(room[:0], xs...)
	out[n+1] = m
	y := op.New(out...)
	if !op.dry(0) {
		if p := w.packs.packed(&w.val, f); p != nil {
			tensor.MatMulPacked(&y.val, &x.val, p, 0)
		} else {
			product(&y.val, &x.val, &w.val, f)
		}
	}
	back := notes[batchNotes](op)
	*back = batchNotes{x, w, f}
	return op.recordBy(y, back)
}

// batchNotes is the pullback of products of x and w, transposed as f says.
type batchNotes struct {
	x, w *Var
	f    tensor.Flags
}

// Pull adds to the gradients of x and w.
func (n *batchNotes) Pull(dy *tensor.Dense) {
	if dx := n.x.Grad(); dx != nil {
		product(dx, dy, &n.w.val, n.f^tensor.TransB)
	}
	if dw := n.w.Grad(); dw == nil {
		return
	} else if n.f == tensor.TransB {
		product(dw, dy, &n.x.val, tensor.TransA)
	} else {
		product(dw, &n.x.val, dy, tensor.TransA)
	}
}

// product adds the product of a and b, matrices or arrays of matrices.
func product(dst, a, b *tensor.Dense, f tensor.Flags) {
	if dst.Axes() == 2 {
		tensor.MatMul(dst, a, b, f)
	} else {
		tensor.BatchMatMul(dst, a, b, f)
	}
}
