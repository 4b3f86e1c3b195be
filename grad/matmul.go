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
	return op.recordBy(y, note(op, productNotes{x, w, y}))
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
	return op.recordBy(y, note(op, batchNotes{x, w, f}))
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

// multiply sets y to x·w, and does what then says; x is dense.
func (op Op) multiply(y *tensor.Dense, x, w *Var, then tensor.Epilogue) {
	if p := w.packs.packed(&w.val, 0); p != nil {
		tensor.MatMulPackedThen(matrix(y), matrix(&x.val), p, 0, then)
		return
	}
	tensor.MatMulThen(matrix(y), matrix(&x.val), &w.val, 0, then)
}

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
	n := note(op, groupsNotes{x: x, w: w, ends: ends})
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

// keepProducts has t work out the products of x with Params once and keep them across Resets: see tape.KeepProducts.
func (t *Tape) keepProducts(x tensor.Array) {
	if !t.never {
		panic(&TapeError{Op: "KeepProducts", Why: "the tape records, and training changes its Params; call it on one of NewEval"})
	}
	t.kept = kept{of: x}
}

// keeps reports whether products of x are kept.
func (t *Tape) keeps(x *Var) bool {
	if t == nil {
		return false
	}
	switch of := t.kept.of.(type) {
	case *sparse.CSR:
		return of == x.csr
	case *tensor.Dense:
		return x.csr == nil && len(of.Data) > 0 && len(x.val.Data) > 0 && &of.Data[0] == &x.val.Data[0] && slices.Equal(of.Shape(), x.val.Shape())
	}
	return false
}

// keptProduct returns a(x·w + b), without b if that is nil, which of works out; or nil if it is not kept.
func (x *Var) keptProduct(w, b *Var, a string, of func(x, w, b *Var) *Var) *Var {
	if x == nil || w == nil || !w.tape.keeps(x) {
		return nil
	}
	t, sh := w.tape, x.Shape()
	if !t.isParam(w) || b != nil && !t.isParam(b) || w.val.Axes() != 2 || sh[len(sh)-1] != w.Dim(0) || len(w.val.Data) == 0 {
		return nil
	}
	t.heed()
	k := keptProduct{w: &w.val.Data[0], cols: w.Dim(1), act: a}
	if b != nil {
		k.b = &b.val.Data[0]
	}
	for _, p := range t.kept.products {
		if k.y = p.y; p == k {
			return t.Input(p.y)
		}
	}
	if b != nil {
		b = Const(&b.val)
	}
	k.y = of(Const(t.kept.of), Const(&w.val), b).Value()
	t.kept.products = append(t.kept.products, k)
	return t.Input(k.y)
}

// isParam reports whether w is a Param on t, or a part of one.
func (t *Tape) isParam(w *Var) bool {
	root, _ := w.origin()
	for _, v := range t.uses {
		if v.body == root.body {
			return true
		}
	}
	return false
}
