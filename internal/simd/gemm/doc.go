// Package gemm holds the kernels of products of dense matrices, and those that pack
// their operands.
package gemm

//go:generate go -C ../_gen run . -kernels gemm/product
