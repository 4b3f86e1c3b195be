package sparse

import "github.com/edgewise-ml/edgewise/tensor"

// GatherRows returns the rows of a that rows names, in their order: what
// [tensor.GatherRows] is for a dense array. It panics where a row is not one of
// a's.
func GatherRows(a *CSR, rows []int32) *CSR {
	n := 0
	for _, r := range rows {
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
