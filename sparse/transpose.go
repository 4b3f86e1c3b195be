package sparse

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/tensor"
)

// flipped is the structure of a transpose.
type flipped struct {
	t    *CSR // without values
	perm []int32
}

// Transpose returns the transpose of a: nonzero k of t is nonzero perm[k] of a.
// The nonzeros of a row of t are in the order they have in a, so sums over them
// run in the same order either way.
//
// The structure is computed once, and shared with what [CSR.WithValues] returns: t and perm must not be modified,
// and if a has no values t is the same matrix each time. Values are gathered by
// each call, since those of a may have changed.
func (a *CSR) Transpose() (t *CSR, perm []int32) {
	t, perm = a.structureT()
	if a.Values == nil {
		return t, perm
	}
	a.Settle()
	values := make([]tensor.Float, len(perm))
	pick(values, a.Values, perm)
	return t.WithValues(values), perm
}

// WithValues returns a matrix of a's structure with other values, one a nonzero;
// nil makes every element 1. The two share the structure of their transposes
// too, so that is computed once. It panics with a [*tensor.ShapeError] on
// another number of values.
func (a *CSR) WithValues(values []tensor.Float) *CSR {
	if values != nil && len(values) != a.NNZ() {
		panic(&tensor.ShapeError{Op: "sparse.WithValues", Shapes: [][]int{{len(values)}, a.Shape()}, Why: fmt.Sprintf("want %d values, one a nonzero", a.NNZ())})
	}
	return &CSR{Offsets: a.Offsets, Cols: a.Cols, Values: values, NumRows: a.NumRows, NumCols: a.NumCols, like: a.root()}
}

// root returns the matrix that keeps the transpose of a's structure.
func (a *CSR) root() *CSR {
	if a.like != nil {
		return a.like
	}
	return a
}

// turned reports whether the transpose has been computed.
func (a *CSR) turned() bool { return a.root().flip.Load() != nil }

// structureT is Transpose without values.
func (a *CSR) structureT() (t *CSR, perm []int32) {
	r := a.root()
	r.once.Do(func() { r.flip.Store(r.turn()) })
	flip := r.flip.Load()
	return flip.t, flip.perm
}

// turn transposes the structure by a counting sort of the columns.
func (a *CSR) turn() *flipped {
	s := keySort{keys: a.Cols, n: a.NumCols, rows: a.Offsets}
	s.sort()
	return &flipped{&CSR{Offsets: s.offsets, Cols: s.row, NumRows: a.NumCols, NumCols: a.NumRows}, s.order}
}
