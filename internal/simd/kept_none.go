//go:build !amd64 || noasm || f64

package simd

// The kernel of what is kept in assembly, which is never called here.

func (*Values) keepFast() { panic(none) }
