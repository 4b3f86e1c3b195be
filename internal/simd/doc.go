// Package simd is the house of the kernels: functions on rows and slices that
// everything else is made of. It holds none itself; they are in packages by what
// they compute.
//
//	cpu     which kernels this processor can run, and how memory is asked for
//	vec     elements, rows and columns: functions, reductions, softmax, dropout, Adam
//	gemm    products of dense matrices, and the packing of their operands
//	spmm    rows gathered along the nonzeros of a sparse matrix: sums, maxima, dots,
//	        segments, scatters
//	attend  graph attention: GAT, GATv2, additive scores, inner products of heads
//	four    kernels of vectors of four floats, for arm64 and WebAssembly
//	simdtest  what their tests have in common
//
// vec may be imported by the others, cpu by all.
//
// Each kernel is written in plain Go, which is the truth; a processor's own kernel, where it
// exists, gives the same values faster, though not the same bits. What a processor has is in files
// with its suffix; what it lacks, plain.go says. So a caller asks both: cpu.Fast, whether kernels run at
// all, and the kernel's function, which is called xxxFast, whether it has done the work:
//
//	if cpu.Fast && mulAddFast(z, x, y) {
//		return
//	}
//
// A function that can do a part returns how many elements it has done, 0 where there is no kernel.
//
// For an amd64 with AVX2 and FMA there is assembly, written by the generator in _gen: go generate
// in a package's directory runs it. Of a few kernels there is one for AVX-512, too. The tags
// noasm and f64 leave all of it out. cpu.Path says which kernels are in use, and cpu.Disable and
// cpu.Narrow are for tests:
//
//	defer cpu.Disable()()
//
// A function of one element gives the same bits wherever the element stands in
// a slice and however long the slice is.
package simd
