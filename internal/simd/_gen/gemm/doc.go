// Package gemm writes the assembly of internal/simd/gemm.
package gemm
