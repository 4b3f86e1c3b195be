//go:build !amd64 || noasm || f64

package cpu

func supported() bool { return false }

func supported512() bool { return false }

// NoAssembly is what a call of assembly panics with in such a build.
const NoAssembly = "simd: no assembly in this build"
