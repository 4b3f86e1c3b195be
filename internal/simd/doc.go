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
//	simdtest  what their tests have in common
//
// vec may be imported by the others, cpu by all.
//
// Each kernel is written in plain Go, which is the truth; assembly, where it
// exists, gives the same values faster, though not the same bits. It is written by
// the generator in _gen: go generate in a package's directory runs it.
//
// Assembly needs an amd64 with AVX2 and FMA, and is left out of builds with the
// tag noasm or f64; of a few kernels there is one for AVX-512, too. cpu.Path says
// which is in use, and cpu.Disable and cpu.Narrow are for tests:
//
//	defer cpu.Disable()()
//
// A function of one element gives the same bits wherever the element stands in
// a slice and however long the slice is.
package simd
