package sparse

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/tensor"
)

// FromCOO returns the matrix with the element v[j] in row r[j] and column c[j],
// for each j of the list; a nil v makes every element 1. order[k] is the place
// in the list of nonzero k. Within a row the order of the list is kept, and so
// are duplicates. The slices are copied. The error names the first place of the
// list that is wrong.
//
// It allocates twelve bytes a row even where there are no elements, so a number
// of rows out of an untrusted file wants a bound before it comes here.
func FromCOO(rows, cols int, r, c []int32, v []tensor.Float) (a *CSR, order []int32, err error) {
	if err := checkList(rows, cols, r, c, v); err != nil {
		return nil, nil, err
	}
	order, offsets := sortByKey(rows, r)
	a = &CSR{Offsets: offsets, Cols: make([]int32, len(c)), NumRows: rows, NumCols: cols}
	pick(a.Cols, c, order)
	if v != nil {
		a.Values = make([]tensor.Float, len(v))
		pick(a.Values, v, order)
	}
	return a, order, nil
}

// checkList checks a list of elements for FromCOO.
func checkList(rows, cols int, r, c []int32, v []tensor.Float) error {
	if err := checkSizes(rows, cols, len(r)); err != nil {
		return err
	}
	if len(c) != len(r) {
		return fmt.Errorf("sparse: %d row numbers with %d column numbers, want as many", len(r), len(c))
	}
	if v != nil && len(v) != len(r) {
		return fmt.Errorf("sparse: %d values for %d elements, want one each or nil", len(v), len(r))
	}
	row, col := firstOutside(r, rows), firstOutside(c, cols)
	switch {
	case row < len(r) && row <= col:
		return fmt.Errorf("sparse: element %d of the list has row %d of a matrix of %d rows", row, r[row], rows)
	case col < len(c):
		return fmt.Errorf("sparse: element %d of the list has column %d of a matrix of %d columns", col, c[col], cols)
	}
	return nil
}

// FromDense returns the elements of the matrix x that are not zero; a NaN is
// not. An x of more than two axes is read as a matrix of its rows.
func FromDense(x *tensor.Dense) *CSR {
	if x == nil {
		panic(&tensor.ShapeError{Op: "sparse.FromDense", Why: "the array is nil"})
	}
	rows, cols, nnz := x.Rows(), x.RowLen(), 0
	for _, v := range x.Data {
		if v != 0 {
			nnz++
		}
	}
	if err := checkSizes(rows, cols, nnz); err != nil {
		panic(&tensor.ShapeError{Op: "sparse.FromDense", Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("rows, columns and nonzeros are at most %d each", math.MaxInt32)})
	}
	a := &CSR{Offsets: make([]int64, rows+1), Cols: make([]int32, 0, nnz), Values: make([]tensor.Float, 0, nnz), NumRows: rows, NumCols: cols}
	for i := range rows {
		for j, v := range x.Row(i) {
			if v != 0 {
				a.Cols = append(a.Cols, int32(j))
				a.Values = append(a.Values, v)
			}
		}
		a.Offsets[i+1] = int64(len(a.Cols))
	}
	return a
}

// Dense returns a as a dense matrix. Duplicates add up.
func (a *CSR) Dense() *tensor.Dense {
	a.Settle()
	x := tensor.New(a.NumRows, a.NumCols)
	for i := range a.NumRows {
		row := x.Row(i)
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			row[a.Cols[k]] += a.value(k)
		}
	}
	return x
}

// GatherRows returns the rows of a that rows names, in their order: what
// [tensor.GatherRows] is for a dense array. It panics with a [*tensor.ShapeError] where a
// row is not one of a's.
func GatherRows(a *CSR, rows []int32) *CSR {
	given("sparse.GatherRows", a)
	n := 0
	for i, r := range rows {
		if r < 0 || int(r) >= a.NumRows {
			panic(&tensor.ShapeError{Op: "sparse.GatherRows", Shapes: [][]int{a.Shape()}, Why: fmt.Sprintf("index %d asks for row %d of %d", i, r, a.NumRows)})
		}
		n += int(a.Offsets[r+1] - a.Offsets[r])
	}
	b := &CSR{NumRows: len(rows), NumCols: a.NumCols, Offsets: make([]int64, 1, len(rows)+1), Cols: make([]int32, 0, n)}
	if a.Values != nil { // nil would make each element 1
		b.Values = make([]tensor.Float, 0, n)
	}
	for _, r := range rows {
		cols, values := a.Row(int(r))
		b.Cols, b.Values = append(b.Cols, cols...), append(b.Values, values...)
		b.Offsets = append(b.Offsets, int64(len(b.Cols)))
	}
	return b
}
