package tensor

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd"
)

// GatherRows sets row i of dst to row rows[i] of x; a row may occur several
// times. It panics with a [*ShapeError] if x has no such row. dst must not
// overlap x.
func GatherRows(dst, x *Dense, rows []int32) {
	checkRows("GatherRows", dst, x, rows)
	n := x.RowLen()
	for i, r := range rows {
		copy(dst.Data[i*n:(i+1)*n], x.Data[int(r)*n:(int(r)+1)*n])
	}
}

// ScatterAddRows adds row i of x to row rows[i] of dst. A row that occurs
// several times is added to in the order of rows. It panics with a
// [*ShapeError], before it adds anything, if dst has no such row. dst must not
// overlap x.
func ScatterAddRows(dst, x *Dense, rows []int32) {
	checkRows("ScatterAddRows", x, dst, rows)
	n := x.RowLen()
	for i, r := range rows {
		to := dst.Data[int(r)*n : (int(r)+1)*n]
		simd.Add.Forward(to, to, x.Data[i*n:(i+1)*n], 1, 1)
	}
}

// checkRows checks that list has a row for each of rows, which are rows of
// table.
func checkRows(op string, list, table *Dense, rows []int32) {
	if list.Rows() != len(rows) || list.axes != table.axes || !slices.Equal(list.Shape()[1:], table.Shape()[1:]) {
		e := Mismatch("tensor."+op, table, list)
		e.Shapes = append(e.Shapes, []int{len(rows)})
		panic(e)
	}
	for i, r := range rows {
		if uint(r) >= uint(table.Rows()) {
			e := Mismatch("tensor."+op, table)
			e.Why = fmt.Sprintf("index %d asks for row %d", i, r)
			panic(e)
		}
	}
	apart(op, list, table)
}
