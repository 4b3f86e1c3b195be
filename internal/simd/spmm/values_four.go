//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package spmm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/four"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// mask is the mask of the values, of column 1, whose lane is the key of columns.
func (v *Values) mask() four.Mask {
	return four.NewMask(v.k0, v.k1, v.drop, vec.ColumnKey, v.scale, 1)
}

// keepFast is Keep. Plain Go knows that a scale of 0 keeps nothing, whatever the hash.
func (v *Values) keepFast() bool {
	if v.scale == 0 {
		return false
	}
	m := v.mask()
	four.KeepValues(at(v.ToCols, 0), at(v.Kept, 0), at(v.Starts, 1), at(v.Cols, 0), at(v.From, 0), at(v.Offsets, 0), unsafe.Pointer(&m),
		len(v.Offsets)-1, v.Row, int(v.Starts[0]))
	return true
}

// dropFast is Drop.
func (v *Values) dropFast() bool {
	if v.scale == 0 {
		return false
	}
	m := v.mask()
	four.DropValues(at(v.To, 0), at(v.Cols, 0), at(v.From, 0), at(v.Offsets, 0), unsafe.Pointer(&m), len(v.Offsets)-1, v.Row)
	return true
}

// pickMost is how many nonzeros a call of Pick has.
const pickMost = 1 << 14

// pickFast is Pick, in calls of not too many nonzeros.
func pickFast(toCols []int32, toW []Float, cols []int32, w []Float) (kept, done int) {
	for n := len(cols); done < n; done += pickMost {
		kept += four.Pick(at(toCols, kept), at(toW, kept), at(cols, done), at(w, done), nil, min(pickMost, n-done))
	}
	return kept, len(cols)
}

// pickEdgesFast is PickEdges in such calls.
func pickEdgesFast(toCols []int32, toW []Float, cols []int32, w []Float, edges []int32) (kept, done int) {
	for n := len(cols); done < n; done += pickMost {
		kept += four.Pick(at(toCols, kept), at(toW, kept), at(cols, done), at(w, 0), at(edges, done), min(pickMost, n-done))
	}
	return kept, len(cols)
}
