package cpu

// Fast says whether the kernels of this processor run: it is true if the build has any and the
// processor can run them. Only [Disable] sets it.
var Fast = supported()

// Path names the kernels in use: "avx512", "avx2", "neon", "wasm128" or "go".
func Path() string {
	if !Fast {
		return "go"
	}
	return path()
}

// Narrow leaves out the variants of kernels for the wider of two kinds of registers that a
// processor may have, until undo is called.
func Narrow() (undo func()) { return narrower() }

// Disable turns to the kernels in plain Go until undo is called. It is for
// tests: no kernel may run meanwhile.
func Disable() (undo func()) {
	was := Fast
	Fast = false
	return func() { Fast = was }
}
