// Package spmm writes the assembly of internal/simd/spmm.
package spmm
