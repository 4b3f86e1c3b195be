//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package spmm

// What vectors of four floats have no kernels for.

func gatherFast(_, _ []Float, _ []int32, _ int) bool              { return false }
func scatterFast(_, _ []Float, _ []int32, _ []uint16, _ int) bool { return false }
func fetchFast([]Float)                                           {}

func sumSegmentsFast(_, _ []Float, _ []int64, _ int) bool    { return false }
func spreadSegmentsFast(_, _ []Float, _ []int64, _ int) bool { return false }
func dotSegmentsFast(_, _, _ []Float, _ []int64, _ int) bool { return false }
func (*Ranges) softmaxFast(_, _ []Float) bool                { return false }
func (*Ranges) weightsFast(_, _ []Float) bool                { return false }
func (*Ranges) gradFast(_, _, _ []Float) bool                { return false }

func (*RowBest) setFast(_, _ int) bool { return false }
func pickEdgesFast(_ []int32, _ []Float, _ []int32, _ []Float, _ []int32) (kept, done int) {
	return 0, 0
}
func pickFast(_ []int32, _ []Float, _ []int32, _ []Float) (kept, done int) { return 0, 0 }
func (*RowWon) addFast(_, _ int) bool                                      { return false }
func addMeansFast(_, _ []Float, _ []int64, _ int) bool                     { return false }
func divideRangesFast(_, _ []Float, _ []int64, _ int) bool                 { return false }

func (*Segments) softmaxFast() bool { return false }
func (*Segments) gradFast() bool    { return false }

func (*Values) dropFast() bool { return false }
func (*Values) keepFast() bool { return false }
