//go:build goexperiment.simd && !wasm && !noasm && !f64

package four

// sums are the sums of the elements of four vectors, each in pairs.
func sums(a, b, c, d vec) vec {
	return a.ConcatAddPairs(b).ConcatAddPairs(c.ConcatAddPairs(d))
}
