//go:build goexperiment.simd && !wasm && !noasm && !f64

package four

// fused is a + x·b, rounded once.
func fused(a, x, b vec) vec { return x.MulAdd(b, a) }
