package simd

// fast says whether the assembly is used, and wide whether that of AVX-512 is, by the
// few kernels that have one.
var (
	fast = supported()
	wide = supported512()
)

// Path names the kernels in use: "avx512", "avx2" or "go".
func Path() string {
	switch {
	case fast && wide:
		return "avx512"
	case fast:
		return "avx2"
	}
	return "go"
}

// Narrow turns to the kernels of AVX2 until undo is called, as Disable does to those in
// plain Go.
func Narrow() (undo func()) {
	was := wide
	wide = false
	return func() { wide = was }
}

// Disable turns to the kernels in plain Go until undo is called. It is for
// tests: nothing else of this package may run meanwhile.
func Disable() (undo func()) {
	was := fast
	fast = false
	return func() { fast = was }
}
