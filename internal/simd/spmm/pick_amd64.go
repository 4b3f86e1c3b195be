//go:build !noasm && !f64

package spmm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// pickFast is Pick in assembly.
func pickFast(toCols []int32, toW []Float, cols []int32, w []Float) (kept, done int) {
	return pickAVX2(&toCols[0], &toW[0], &cols[0], &w[0], len(cols)), len(cols)
}

// pickEdgesFast is PickEdges in assembly.
func pickEdgesFast(toCols []int32, toW []Float, cols []int32, w []Float, edges []int32) (kept, done int) {
	return pickEdgesAVX2(&toCols[0], &toW[0], &cols[0], unsafe.SliceData(w), &edges[0], len(cols)), len(cols)
}

// addMeansFast is AddMeans in assembly, in calls that last some ten
// microseconds.
func addMeansFast(y, s []Float, offsets []int64, f int) bool {
	rows := len(offsets) - 1
	step := max(1, cpu.AtOnce/f)
	for i := 0; i < rows; i += step {
		addMeansAVX2(&y[i*f], &s[i*f], &offsets[i], min(step, rows-i), f)
	}
	return true
}

// divideRangesFast is DivideRanges in assembly, in calls as those.
func divideRangesFast(y, x []Float, offsets []int64, f int) bool {
	rows := len(offsets) - 1
	step := max(1, cpu.AtOnce/f)
	for i := 0; i < rows; i += step {
		divideRangesAVX2(&y[i*f], &x[i*f], &offsets[i], min(step, rows-i), f)
	}
	return true
}

// spillMost is how many nonzeros a call of Spill.Add has: some ten microseconds.
const spillMost = 1 << 12

// addFast is Add in assembly, in calls of not too many nonzeros.
func (s *Spill) addFast() bool {
	add := spill32AVX2
	switch s.Width {
	case 8:
		add = spill8AVX2
	case 16:
		add = spill16AVX2
	}
	x, offsets := s.X, s.Offsets
	for rows := len(offsets) - 1; rows > 0; rows = len(offsets) - 1 {
		n := 1
		for n < rows && n < spillMost && offsets[n+1]-offsets[0] <= spillMost {
			n++
		}
		add(&s.Y[0], &x[0], &s.Cols[0], &s.W[0], &offsets[0], n, s.YStride, s.XStride, s.skip(offsets[0], offsets[n]))
		if offsets = offsets[n:]; n < rows {
			x = x[n*s.XStride:]
		}
	}
	return true
}

// skip is whether a call of some nonzeros has to look for zeros.
func (s *Spill) skip(lo, hi int64) int {
	if !s.SkipZeros {
		return 0
	}
	return one(vec.HasZero(s.W[lo:hi]))
}
