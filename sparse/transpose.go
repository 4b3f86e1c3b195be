package sparse

import "github.com/edgewise-ml/edgewise/tensor"

// flipped is the structure of a transpose.
type flipped struct {
	t    *CSR // without values
	perm []int32
}

// Transpose returns the transpose of a: nonzero k of t is nonzero perm[k] of a.
// The nonzeros of a row of t are in the order they have in a, so sums over them
// run in the same order either way.
//
// The structure is computed once and shared: t and perm must not be modified,
// and if a has no values t is the same matrix each time. Values are gathered by
// each call, since those of a may have changed.
func (a *CSR) Transpose() (t *CSR, perm []int32) {
	a.once.Do(func() { a.flip = a.turn() })
	t, perm = a.flip.t, a.flip.perm
	if a.Values == nil {
		return t, perm
	}
	t = &CSR{Offsets: t.Offsets, Cols: t.Cols, NumRows: t.NumRows, NumCols: t.NumCols}
	t.Values = make([]tensor.Float, len(perm))
	for k, from := range perm {
		t.Values[k] = a.Values[from]
	}
	return t, perm
}

// turn transposes the structure by a counting sort of the columns.
func (a *CSR) turn() *flipped {
	perm, offsets := sortByKey(a.NumCols, a.Cols)
	t := &CSR{Offsets: offsets, Cols: make([]int32, a.NNZ()), NumRows: a.NumCols, NumCols: a.NumRows}
	rows := make([]int32, a.NNZ())
	for i := range a.NumRows {
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			rows[k] = int32(i)
		}
	}
	for k, from := range perm {
		t.Cols[k] = rows[from]
	}
	return &flipped{t, perm}
}

// sortByKey returns the stable order of the keys, all below n, and where each
// key's run starts in it.
func sortByKey(n int, keys []int32) (order []int32, offsets []int64) {
	offsets = make([]int64, n+1)
	for _, key := range keys {
		offsets[key]++
	}
	start := int64(0)
	for i, count := range offsets {
		offsets[i] = start
		start += count
	}
	order = make([]int32, len(keys))
	for k, key := range keys {
		order[offsets[key]] = int32(k)
		offsets[key]++
	}
	copy(offsets[1:], offsets) // each start has moved on to the next one's
	offsets[0] = 0
	return order, offsets
}
