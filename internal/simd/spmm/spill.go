package spmm

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// SpillWidth is how many columns a [Spill] has at most.
const SpillWidth = 32

// Spill is a sum of rows at the places that their nonzeros point to.
type Spill struct {
	Y, X             []Float
	YStride, XStride int // from row to row
	Width            int // of a row: 8, 16 or 32 elements
	Cols             []int32
	W                []Float
	Offsets          []int64 // of the rows of X in Cols and W, and the end
	SkipZeros        bool    // a nonzero whose weight is 0 is left out: where X is not finite either
}

// Add adds rows of Width elements to where their nonzeros point, each times its
// weight:
//
//	y[cols[k]·yStride+j] += w[k]·x[i·xStride+j]    for the rows i and k = offsets[i] … offsets[i+1]−1, in order
//
// A product is rounded before it is added, in assembly too. There is a column
// and a weight up to the last offset, and the columns are rows of y: neither is
// checked again.
func (s *Spill) Add() {
	rows := len(s.Offsets) - 1
	if rows < 1 {
		return
	}
	if s.Width != 8 && s.Width != 16 && s.Width != SpillWidth || s.YStride < s.Width || s.XStride < s.Width || len(s.X) < (rows-1)*s.XStride+s.Width {
		panic(fmt.Sprintf("spmm: %d elements are not %d rows of %d, %d apart, for rows that are %d apart", len(s.X), rows, s.Width, s.XStride, s.YStride))
	}
	if end := s.Offsets[rows]; end == s.Offsets[0] {
		return
	} else if _, _ = s.Cols[:end], s.W[:end]; cpu.Fast && s.addFast() {
		return
	}
	for i := range rows {
		from := s.X[i*s.XStride : i*s.XStride+s.Width]
		for k := s.Offsets[i]; k < s.Offsets[i+1]; k++ {
			at := int(s.Cols[k]) * s.YStride
			to, by := s.Y[at:at+s.Width], s.W[k]
			if s.SkipZeros && by == 0 {
				continue
			}
			for j, v := range from {
				to[j] += Float(by * v)
			}
		}
	}
}
