// Package four has kernels on vectors of four float32, for arm64 and for WebAssembly.
//
// A kernel is a Go function on the vectors of simd/archsimd, which come with
// GOEXPERIMENT=simd and Go 1.27. On js/wasm it runs as it is. For arm64 the generator
// compiles it and writes what the compiler made as assembly, which any Go links: four_arm64.s
// and its declarations are never edited by hand. On amd64 the functions are there
// for tests alone, under the experiment.
//
// Kernels take places and numbers of bytes and elements, and check nothing. What an array
// holds is said by the packages beside this one, which call it. Strides are in
// bytes, not negative, and below 2³¹.
//
// To add one, see docs/inside/adding-a-processor-kernel.md.
package four

//go:generate go -C ../_gen run ./four
