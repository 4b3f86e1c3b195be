//go:build !linux && (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

func paged(n int) []float32 { return make([]float32, n) }
