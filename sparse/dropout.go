package sparse

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/simd"
	"github.com/edgewise-ml/edgewise/tensor"
)

// DropValues sets dst to the values of a under a dropout: each is dropped as
// the element of a dense matrix in its row and column would be, so that sparse
// and dense features drop alike, and what is kept is scaled. A nil d drops
// nothing. dst may be a's own values:
//
//	dst[k] = keep(i, Cols[k]) ? Values[k]·d.Scale : 0    for the nonzeros k of row i
func DropValues(dst []tensor.Float, a *CSR, d *simd.Dropout) {
	if len(dst) != a.NNZ() {
		panic(&tensor.ShapeError{Op: "sparse.DropValues", Shapes: [][]int{{len(dst)}, a.Shape()}, Why: fmt.Sprintf("want %d elements, one a nonzero", a.NNZ())})
	}
	on := d != nil && d.On()
	for i := range a.NumRows {
		var key uint32
		if on {
			key = d.Row(i)
		}
		for k := a.Offsets[i]; k < a.Offsets[i+1]; k++ {
			switch {
			case !on:
				dst[k] = a.value(k)
			case d.Keep(key, int(a.Cols[k])):
				dst[k] = a.value(k) * tensor.Float(d.Scale)
			default:
				dst[k] = 0
			}
		}
	}
}
