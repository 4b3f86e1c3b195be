//go:build !amd64 || noasm || f64

package simd

func supported() bool { return false }

func supported512() bool { return false }

// The kernels in assembly, which are never called here.

const none = "simd: no assembly in this build"
