//go:build !noasm && !f64

package cpu

import "golang.org/x/sys/cpu"

// AVX512 says whether the few kernels that have a variant of AVX-512 run it. Only [Narrow] sets it.
var AVX512 = narrow == "" && supported512()

// narrow is set in a build that leaves AVX-512 alone, to measure what it is worth, or to test what a processor
// without it runs:
//
//	go build -ldflags '-X github.com/edgewise-ml/edgewise/internal/simd/cpu.narrow=1' ./cmd/gatbench
var narrow string

func supported() bool { return cpu.X86.HasAVX2 && cpu.X86.HasFMA }

// supported512 reports whether there are the parts of AVX-512 that every processor with
// it but the first had.
func supported512() bool {
	x := &cpu.X86
	return supported() && x.HasAVX512F && x.HasAVX512DQ && x.HasAVX512BW && x.HasAVX512VL
}

func path() string {
	if AVX512 {
		return "avx512"
	}
	return "avx2"
}

func narrower() (undo func()) {
	was := AVX512
	AVX512 = false
	return func() { AVX512 = was }
}
