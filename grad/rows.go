package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// Rows returns the given rows of x, in that order; a row may occur several
// times. The list must not change until the tape's next Reset.
func (x *Var) Rows(rows []int32) *Var {
	op := Begin("Rows", x)
	checkRows("Rows", x.Value().Shape(), x.Dim(0), rows)
	shape := slices.Clone(x.val.Shape())
	shape[0] = len(rows)
	y := op.Fresh(shape...)
	if !op.Dry(0) {
		tensor.GatherRows(&y.val, &x.val, rows)
	}
	return op.Record(y, func(dy *tensor.Dense) { tensor.ScatterAddRows(x.Grad(), dy, rows) })
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
	if !op.Dry(0) {
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
	if !op.Dry(0) {
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
