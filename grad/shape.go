package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Reshape returns x under another shape, as a view; −1 stands for what is left.
func (x *Var) Reshape(shape ...int) *Var {
	op := beginView("Reshape", x)
	var room extents
	if l := x.along(); l != nil && l.y != nil {
		y := op.view(x, 0, x.val.AppendInfer(room[:0], shape)...)
		l.watch(y)
		return y
	}
	return op.view(x, 0, x.Value().AppendInfer(room[:0], shape)...)
}

// RowRange returns rows lo to hi, without hi, as a view.
func (x *Var) RowRange(lo, hi int) *Var {
	op := beginView("RowRange", x)
	var room extents
	shape := append(room[:0], x.Value().Shape()...)
	if lo < 0 || hi < lo || hi > shape[0] {
		panic(&tensor.ShapeError{Op: "tensor.RowRange", Shapes: [][]int{slices.Clone(x.val.Shape()), {lo, hi}}, Why: "no such rows"})
	}
	shape[0] = hi - lo
	return op.view(x, lo*x.val.RowLen(), shape...)
}

// InsertAxis returns x with an axis of length 1 before axis i, as a view; −1
// means behind the last. It puts back an axis that SumAxis or MaxAxis took away.
func (x *Var) InsertAxis(i int) *Var {
	op := beginView("InsertAxis", x)
	shape := x.Value().Shape()
	if i < 0 {
		i += len(shape) + 1
	}
	if i < 0 || i > len(shape) || len(shape) == tensor.MaxAxes {
		panic(&tensor.ShapeError{Op: "grad.InsertAxis", Shapes: [][]int{slices.Clone(shape), {i}}, Why: "no place for another axis"})
	}
	var room extents
	with := append(room[:0], shape[:i]...)
	with = append(with, 1)
	return op.view(x, 0, append(with, shape[i:]...)...)
}

// Transpose exchanges the last two axes.
func (x *Var) Transpose() *Var {
	op := Begin("Transpose", x)
	var room extents
	shape := append(room[:0], x.Value().Shape()...)
	k := len(shape) - 2
	if k < 0 {
		panic(&tensor.ShapeError{Op: "grad.Transpose", Shapes: [][]int{slices.Clone(shape)}, Why: "there are no two axes"})
	}
	shape[k], shape[k+1] = shape[k+1], shape[k]
	y := op.Fresh(shape...)
	if !op.dry(len(y.val.Data)) {
		tensor.Transpose(&y.val, &x.val)
	}
	return op.recordBy(y, note(op, turnNotes{x: x}))
}

// turnNotes is the pullback of x transposed.
type turnNotes struct {
	x      *Var
	turned tensor.Dense // while it runs, the gradient transposed
}

// Pull adds to x's gradient.
func (n *turnNotes) Pull(dy *tensor.Dense) {
	t := n.x.tape
	n.turned = n.x.val
	n.turned.Data, _ = t.lend(len(dy.Data))
	tensor.Transpose(&n.turned, dy)
	addTo(n.x.Grad().Data, n.turned.Data)
	t.recycle(n.turned.Data)
}

// Expand stretches axes of length 1, and adds leading ones, as broadcasting does.
func (x *Var) Expand(shape ...int) *Var {
	op := Begin("Expand", x)
	var room extents
	if to, ok := tensor.AppendBroadcast(room[:0], x.Value().Shape(), shape); !ok || !slices.Equal(to, shape) {
		panic(&tensor.ShapeError{Op: "grad.Expand", Shapes: [][]int{slices.Clone(x.Shape()), slices.Clone(shape)}, Why: "the first does not stretch to the second"})
	}
	y := op.Fresh(shape...)
	n := note(op, expandNotes{x, tensor.Pair(x.val.Shape(), shape, shape)})
	if !op.dry(0) {
		n.stretch(y.val.Data)
	}
	return op.recordBy(y, n)
}

// expandNotes is the pullback of x stretched along p.
type expandNotes struct {
	x *Var
	p tensor.Pairing
}

// stretch sets y to x.
func (n *expandNotes) stretch(y []tensor.Float) {
	n.p.Rows(func(at, from, _ int) {
		to := y[at : at+n.p.N]
		if n.p.SX == 1 {
			copy(to, n.x.val.Data[from:])
			return
		}
		for i := range to {
			to[i] = n.x.val.Data[from]
		}
	})
}

// Pull adds to x's gradient.
func (n *expandNotes) Pull(dy *tensor.Dense) {
	dx := n.x.Grad().Data
	n.p.Rows(func(at, from, _ int) {
		g := dy.Data[at : at+n.p.N]
		if n.p.SX == 1 {
			addTo(dx[from:from+n.p.N], g)
		} else {
			dx[from] += vec.Sum(g)
		}
	})
}

// Rows returns the given rows of x, in that order; a row may occur several
// times. The list must not change until the tape's next Reset. The rows of a sparse
// constant are one, too.
func (x *Var) Rows(rows []int32) *Var {
	if x.IsSparse() {
		checkRows("Rows", x.Sparse().Shape(), x.Dim(0), rows)
		return Const(sparse.GatherRows(x.Sparse(), rows))
	}
	op := Begin("Rows", x)
	checkRows("Rows", x.Value().Shape(), x.Dim(0), rows)
	var room extents
	shape := append(room[:0], x.val.Shape()...)
	shape[0] = len(rows)
	y := op.Fresh(shape...)
	if !op.dry(0) {
		tensor.GatherRows(&y.val, &x.val, rows)
	} else if !x.needs && x.leaf() && allZero(x.val.Data) { // as the state before a sweep often is
		y.blank = len(y.val.Data)
	}
	return op.recordBy(y, note(op, rowsNotes{x, rows}))
}

// rowsNotes are what Rows knows in Backward.
type rowsNotes struct {
	x    *Var
	rows []int32
}

// Pull adds each row to the one that it was.
func (n *rowsNotes) Pull(dy *tensor.Dense) { tensor.ScatterAddRows(n.x.Grad(), dy, n.rows) }

// Permute returns the rows of x in another order: row i of the result is row
// order[i] of x, and rank is the way back, rank[order[i]] = i. It is [Var.Rows]
// whose gradient is moved as fast as the rows. The lists must not change until
// the tape's next Reset.
func (x *Var) Permute(order, rank []int32) *Var { return x.sorted(0, rank, order, false) }

// sorted returns the rows of x from number skip on: row i is number rank[i] of
// them. order is the way back. Later ones are moved when they are first read.
func (x *Var) sorted(skip int, order, rank []int32, later bool) *Var {
	op := Begin("Permute", x)
	var room extents
	shape := append(room[:0], x.Value().Shape()...)
	shape[0] -= skip
	if skip < 0 || len(rank) != shape[0] || !inverse(order, rank) {
		panic(&tensor.ShapeError{Op: "grad.Permute", Shapes: [][]int{slices.Clone(x.val.Shape()), {len(order)}, {len(rank)}}, Why: "the lists are not an order of the rows and its inverse"})
	}
	y := op.Fresh(shape...)
	n := note(op, sortedNotes{x: x, skip: skip, order: order, rank: rank})
	op.dry(0)
	if later && op.tape != nil {
		out := op.over(y.val.Data, y.val.Shape())
		op.postpone(out, y, n)
		return op.recordBy(out, n)
	}
	n.Run(op, y)
	return op.recordBy(y, n)
}

// sortedNotes are rows in another order.
type sortedNotes struct {
	x           *Var
	skip        int
	order, rank []int32
}

// Run implements [deferred].
func (n *sortedNotes) Run(op Op, y *Var) {
	if !op.measuring() {
		tensor.GatherRows(&y.val, tail(&n.x.val, n.skip), n.rank)
	}
}

// Pull moves each row back.
func (n *sortedNotes) Pull(dy *tensor.Dense) {
	dx, fresh := n.x.freshGrad()
	if !fresh {
		tensor.ScatterAddRows(tail(dx, n.skip), dy, n.rank)
		return
	}
	clear(dx.Data[:len(dx.Data)-len(dy.Data)])
	tensor.GatherRows(tail(dx, n.skip), dy, n.order)
}

// tail returns the rows from number skip on.
func tail(x *tensor.Dense, skip int) *tensor.Dense {
	if skip == 0 {
		return x
	}
	return x.RowRange(skip, x.Rows())
}

// inverse reports whether order and rank are orders of their indices that undo
// each other.
func inverse(order, rank []int32) bool {
	if len(order) != len(rank) {
		return false
	}
	for i, r := range rank {
		if uint(r) >= uint(len(order)) || int(order[r]) != i {
			return false
		}
	}
	return true
}

// checkRows panics if one of rows is not below n.
func checkRows(op string, shape []int, n int, rows []int32) {
	for i, r := range rows {
		if uint(r) >= uint(n) {
			panic(&tensor.ShapeError{Op: "grad." + op, Shapes: [][]int{slices.Clone(shape)}, Why: fmt.Sprintf("index %d asks for row %d of %d", i, r, n)})
		}
	}
}

// ScatterAdd returns n rows, to row rows[i] of which row i of x is added; rows
// that nothing is added to are zero. It is the adjoint of [Var.Rows]. The list
// must not change until the tape's next Reset.
func (x *Var) ScatterAdd(rows []int32, n int) *Var {
	op := Begin("ScatterAdd", x)
	shape := slices.Clone(x.Value().Shape())
	if len(rows) != shape[0] || n < 0 {
		panic(&tensor.ShapeError{Op: "grad.ScatterAdd", Shapes: [][]int{shape, {len(rows)}, {n}}, Why: "each row needs the number of a row to be added to"})
	}
	checkRows("ScatterAdd", shape, n, rows)
	shape[0] = n
	y := op.New(shape...)
	if !op.dry(0) {
		tensor.ScatterAddRows(&y.val, &x.val, rows)
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad()
		for i, r := range rows {
			addTo(dx.Row(i), dy.Row(int(r)))
		}
	})
}

// Embedding returns row ids[i] of x, a table of one row a word. Rows for the id
// padding are no words: they give x no gradient. With a negative padding, such as
// [NoLabel], they are zero; else they are the table's row of that number. The
// list must not change until the tape's next Reset.
func (x *Var) Embedding(ids []int32, padding int32) *Var {
	op := Begin("Embedding", x)
	shape := slices.Clone(x.Value().Shape())
	for i, id := range ids {
		if uint(id) >= uint(shape[0]) && (id != padding || id >= 0) {
			panic(&tensor.ShapeError{Op: "grad.Embedding", Shapes: [][]int{shape}, Why: fmt.Sprintf("id %d is %d, and the table has %d rows", i, id, shape[0])})
		}
	}
	shape[0] = len(ids)
	y := op.New(shape...)
	if !op.dry(0) {
		for i, id := range ids {
			if id >= 0 {
				copy(y.val.Row(i), x.val.Row(int(id)))
			}
		}
	}
	return op.Record(y, func(dy *tensor.Dense) {
		dx := x.Grad()
		for i, id := range ids {
			if id != padding {
				addTo(dx.Row(int(id)), dy.Row(i))
			}
		}
	})
}

// allZero reports whether x has zeros alone.
func allZero(x []tensor.Float) bool {
	for _, v := range x {
		if v != 0 {
			return false
		}
	}
	return true
}
