//go:build !(arm64 || (goexperiment.simd && (amd64 || wasm))) || noasm || f64

package four

// Have tells whether this build has the kernels.
const Have = false
