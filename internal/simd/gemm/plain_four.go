//go:build (arm64 || (wasm && goexperiment.simd)) && !noasm && !f64

package gemm

// What vectors of four floats have no kernels for.

func (*Product) panelsFast(_, _, _ int) int { return 0 }
