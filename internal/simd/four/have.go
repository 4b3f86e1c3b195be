//go:build (arm64 || (goexperiment.simd && (amd64 || wasm))) && !noasm && !f64

package four

import "runtime"

// Have tells whether this build has the kernels.
const Have = true

// Widest is how many columns sums of rows take at once. With sixteen vectors, node is ten times slower.
func Widest() int {
	if runtime.GOARCH == "wasm" {
		return 32
	}
	return 64
}
