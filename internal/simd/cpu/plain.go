//go:build (!amd64 && !arm64 && !(wasm && goexperiment.simd)) || noasm || f64

package cpu

// What a processor without a suffix of its own has of the kernels: nothing.

func supported() bool  { return false }
func path() string     { return "go" }
func narrower() func() { return func() {} }
