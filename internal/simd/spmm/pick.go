package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// Pick copies the columns and weights of the nonzeros whose weight is not zero
// to the front of toCols and toW, in order, and returns how many there are. The
// destination may be the source, and has room for all.
func Pick(toCols []int32, toW []Float, cols []int32, w []Float) int {
	n, done := 0, 0
	toCols, toW, w = toCols[:len(cols)], toW[:len(cols)], w[:len(cols)]
	if cpu.Fast && len(cols) > 0 {
		n, done = pickFast(toCols, toW, cols, w)
	}
	for k := done; k < len(cols); k++ {
		if v := w[k]; v != 0 {
			toCols[n], toW[n] = cols[k], v
			n++
		}
	}
	return n
}

// PickEdges is Pick of nonzeros whose weights are those of edges: nonzero k has
// w[edges[k]]. The destination must not be the source.
func PickEdges(toCols []int32, toW []Float, cols []int32, w []Float, edges []int32) int {
	n, done := 0, 0
	toCols, toW, edges = toCols[:len(cols)], toW[:len(cols)], edges[:len(cols)]
	if cpu.Fast && len(cols) > 0 {
		n, done = pickEdgesFast(toCols, toW, cols, w, edges)
	}
	for k := done; k < len(cols); k++ {
		if v := w[edges[k]]; v != 0 {
			toCols[n], toW[n] = cols[k], v
			n++
		}
	}
	return n
}

// AddMeans adds to y the sums s of rows of f elements, divided by how many
// nonzeros a row has; a row without any is left out:
//
//	y[i,j] += s[i,j] / n    for n = offsets[i+1] − offsets[i] > 0
func (r Rows) AddMeans(y, s []Float, offsets []int64) {
	f := int(r)
	rows := len(offsets) - 1
	y, s = y[:rows*f], s[:rows*f]
	if len(y) == 0 {
		return
	}
	if cpu.Fast && addMeansFast(y, s, offsets, f) {
		return
	}
	for i := range rows {
		n := Float(offsets[i+1] - offsets[i])
		for j := i * f; n > 0 && j < i*f+f; j++ {
			y[j] += s[j] / n
		}
	}
}
