package spmm

import (
	"testing"

	"github.com/edgewise-ml/edgewise/internal/simd/simdtest"
)

// exponentialsOfSegments are the places among softmaxes of segments.
func exponentialsOfSegments() []simdtest.Exponential {
	zeros, ones := make([]Float, 8), []Float{1, 1, 1, 1, 1, 1, 1, 1}
	return []simdtest.Exponential{
		{Name: "Segments.Softmax", Lo: -80, Hi: -18, Run: simdtest.Softened(func(y, x []Float) {
			(&Segments{Offsets: []int64{0, 2}, X: x, Y: y, Work: make([]Float, SegmentWork(8)), N: 8}).Softmax()
		})},
		{Name: "Ranges.Softmax", Lo: -80, Hi: -18, Run: simdtest.Softened(func(y, x []Float) {
			(&Ranges{Off: []int64{0, 2}, W: 8, Top: make([]Float, 8), Sum: make([]Float, 8), Apart: 8}).Softmax(y, x)
		})},
		{Name: "Ranges.Weights", Lo: -80, Hi: 0, Run: func(y, x []Float) {
			(&Ranges{Off: []int64{0, int64(len(x) / 8)}, W: 8, Top: zeros, Sum: ones, Apart: 8}).Weights(y, x)
		}},
	}
}

func TestSegmentExponentials(t *testing.T) { simdtest.CheckExponentials(t, exponentialsOfSegments()) }
