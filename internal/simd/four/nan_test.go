//go:build (arm64 || goexperiment.simd) && !amd64 && !noasm && !f64

package four

// maxLosesNaN is explained in nan_amd64_test.go.
const maxLosesNaN = false
