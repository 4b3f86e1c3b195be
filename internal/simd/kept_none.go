//go:build !amd64 || noasm || f64

package simd

// The kernels of what is kept in assembly, which are never called here.

func (*Values) keepFast() { panic(none) }

func hasZeroFast([]Float) bool { panic(none) }
