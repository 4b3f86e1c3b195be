//go:build !amd64 || noasm || f64

package simd

func supported() bool { return false }

// The kernels in assembly, which are never called here.

const none = "simd: no assembly in this build"

func gemm16(*byte, int)    { panic(none) }
func gemm16cut(*byte, int) { panic(none) }
func gemm8cut(*byte, int)  { panic(none) }
