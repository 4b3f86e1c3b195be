package fused

import (
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/tensor"
)

// long does the first node of w, whose edges from lo up to hi come in pieces. It reports
// whether all scores are such as a call takes.
func (t *listedPass) long(w *attend.DotWalk, lo, hi int64) bool {
	row, piece := LongRow{}, *w
	piece.Offsets = row.Edges[:]
	row.Begin(lo, hi, attend.DotMost)
	switch t.stage {
	case listedAttend:
		return t.attendLong(&row, &piece, w)
	case listedRetrace:
		t.retraceLong(&row, &piece)
	default:
		for row.Next() {
			t.call(&piece)
			piece.SetK, piece.SetV = false, false
		}
	}
	return true
}

// attendLong makes a result of each piece, and the row's of these.
func (t *listedPass) attendLong(row *LongRow, piece, w *attend.DotWalk) bool {
	var y [attend.DotRow]tensor.Float
	var rec [attend.DotRecord]tensor.Float
	var top, sum [ListedHeads]tensor.Float
	piece.Y, piece.Rec, piece.Add, piece.Stream = y[:], rec[:], nil, false
	for row.Next() {
		if t.call(piece) == 0 {
			return false
		}
		for h := range top {
			at := attend.DotPlace(h)
			top[h], sum[h] = rec[at], 1/rec[8+at]
		}
		row.AddSoftmax(y[:], top[:], sum[:])
	}
	var root []tensor.Float
	if w.Add != nil {
		root = w.Add[:attend.DotRow]
	}
	copy(w.Y, row.Mean(ListedHeads, ListedHeads, root))
	if w.Rec != nil {
		for h := range top {
			at := attend.DotPlace(h)
			w.Rec[at], w.Rec[8+at] = row.Top[h], attend.Inverse(row.Sum[h])
		}
	}
	return true
}

// retraceLong adds up Σ α·dα first, which all pieces need.
func (t *listedPass) retraceLong(row *LongRow, piece *attend.DotWalk) {
	var total [ListedHeads]tensor.Float
	center := piece.Rec[2*ListedHeads : attend.DotRecord]
	for piece.Stage = attend.DotCenter; row.Next(); {
		t.call(piece)
		add(total[:], center)
	}
	copy(center, total[:])
	row.Again()
	for piece.Stage = attend.DotCentred; row.Next(); {
		t.call(piece)
		piece.SetQ = false
	}
}
