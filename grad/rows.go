package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/sparse"
	"github.com/edgewise-ml/edgewise/tensor"
)

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
	n := notes[rowsNotes](op)
	n.x, n.rows = x, rows
	return op.recordBy(y, n)
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
	n := notes[sortedNotes](op)
	*n = sortedNotes{x: x, skip: skip, order: order, rank: rank}
	op.dry(0)
	if later && op.tape != nil {
		return op.recordBy(op.putOff(y, n), n)
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
