// Package spmm holds the kernels on the rows that the nonzeros of a sparse matrix name:
// gathered, scattered, summed, the largest of them, inner products; and those on segments,
// the ranges of nonzeros of a row.
package spmm

//go:generate go -C ../_gen run . -kernels spmm/rows
//go:generate go -C ../_gen run . -kernels spmm/lists
