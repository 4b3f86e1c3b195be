//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package spmm

// What vectors of four floats have no kernels for.

func gatherFast(_, _ []Float, _ []int32, _ int) bool { return false }
func fetchFast([]Float)                              {}

func spreadSegmentsFast(_, _ []Float, _ []int64, _ int) bool { return false }
