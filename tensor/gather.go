package tensor

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/spmm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// GatherRows sets row i of dst to row rows[i] of x; a row may occur several
// times. It panics with a [*ShapeError] if x has no such row. dst must not
// overlap x.
func GatherRows(dst, x *Dense, rows []int32) {
	checkRows("GatherRows", dst, x, rows)
	m := moving{dst.Data, x.Data, rows, x.RowLen(), dst.Rows()}
	cost := max(costGather*m.n, costGathered)
	if alone(len(rows), cost) {
		m.gather(0, len(rows))
		return
	}
	movingJobs.run(m, len(rows), cost, (*moving).gather)
}

// gather copies rows lo to hi, without hi. Rows of a large array are asked for before
// they are read.
func (m *moving) gather(lo, hi int) {
	spmm.Rows(m.n).Gather(m.dst[lo*m.n:hi*m.n], m.x, m.rows[lo:])
}

// moving is a copy or sum of rows of n elements between two arrays.
type moving struct {
	dst, x []Float
	rows   []int32
	n      int
	length int // of dst, in rows
}

var movingJobs jobs[moving]

// ScatterAddRows adds row i of x to row rows[i] of dst. A row that occurs
// several times is added to in the order of rows. It panics with a
// [*ShapeError], before it adds anything, if dst has no such row. dst must not
// overlap x.
func ScatterAddRows(dst, x *Dense, rows []int32) {
	checkRows("ScatterAddRows", x, dst, rows)
	m := moving{dst.Data, x.Data, rows, x.RowLen(), dst.Rows()}
	switch parts := min(partsOf(len(rows), costGather*m.n), scatterMost); {
	case parts == 1:
		m.scatter(0, 1)
	case m.n >= scatterWide:
		movingJobs.run(m, m.n/scatterCut, share, (*moving).scatterColumns)
	default:
		movingJobs.run(m, scatterMost, share, (*moving).scatterPart)
	}
}

// Rows to which others are added are cut by columns where they are wide. Where
// they are not, each part of them looks through the whole list for its own, so
// parts are few.
const (
	scatterMost = 4
	scatterWide = 128
	scatterCut  = 64
)

// scatterColumns adds some columns of all rows.
func (m *moving) scatterColumns(lo, hi int) {
	from, to := lo*scatterCut, hi*scatterCut
	if hi == m.n/scatterCut {
		to = m.n
	}
	for i, r := range m.rows {
		vec.Axpy(m.dst[int(r)*m.n+from:int(r)*m.n+to], 1, m.x[i*m.n+from:i*m.n+to])
	}
}

func (m *moving) scatterPart(lo, hi int) {
	for p := lo; p < hi; p++ {
		m.scatter(p, scatterMost)
	}
}

// scatter adds to the rows of dst that belong to part p of all.
func (m *moving) scatter(p, all int) {
	lo, hi := int32(p*m.length/all), int32((p+1)*m.length/all)
	for i, r := range m.rows {
		if lo <= r && r < hi {
			vec.Axpy(m.dst[int(r)*m.n:(int(r)+1)*m.n], 1, m.x[i*m.n:(i+1)*m.n])
		}
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
