//go:build goexperiment.simd && !noasm && !f64

package four

// fused is a + x·b, rounded twice: the processor is anything, and has no such instruction for certain.
func fused(a, x, b vec) vec { return a.Add(x.Mul(b)) }
