package simd

// fast says whether the assembly is used.
var fast = supported()

// Path names the kernels in use: "avx2" or "go".
func Path() string {
	if fast {
		return "avx2"
	}
	return "go"
}

// Disable turns to the kernels in plain Go until undo is called. It is for
// tests: nothing else of this package may run meanwhile.
func Disable() (undo func()) {
	was := fast
	fast = false
	return func() { fast = was }
}
