package cpu

// AVX2 says whether assembly is used, and AVX512 whether that of AVX-512 is, by the few
// kernels that have one. Only [Disable] and [Narrow] set them.
var (
	AVX2   = supported()
	AVX512 = narrow == "" && supported512()
)

// narrow is set in a build that leaves AVX-512 alone, to measure what it is worth, or to test what a processor
// without it runs:
//
//	go build -ldflags '-X github.com/edgewise-ml/edgewise/internal/simd/cpu.narrow=1' ./cmd/gatbench
var narrow string

// Path names the kernels in use: "avx512", "avx2" or "go".
func Path() string {
	switch {
	case AVX2 && AVX512:
		return "avx512"
	case AVX2:
		return "avx2"
	}
	return "go"
}

// Narrow turns to the kernels of AVX2 until undo is called, as Disable does to those in
// plain Go.
func Narrow() (undo func()) {
	was := AVX512
	AVX512 = false
	return func() { AVX512 = was }
}

// Disable turns to the kernels in plain Go until undo is called. It is for
// tests: no kernel may run meanwhile.
func Disable() (undo func()) {
	was := AVX2
	AVX2 = false
	return func() { AVX2 = was }
}
