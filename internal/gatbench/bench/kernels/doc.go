// Package kernels has the benchmarks of kernels, each beside a loop in plain Go and, where it has
// such a thing, beside gonum: dense products (gemm.go), functions of slices and rows (vector.go),
// kernels on a graph (OnGraphs) and what is around them (build.go).
//
// A kernel on a graph has a row in the list of its file, sums.go, extremes.go, edges.go, attention.go
// or message.go: its name, where it is timed, what it costs and its operands.
package kernels
