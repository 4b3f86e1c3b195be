//go:build !f64

package bench

import "gonum.org/v1/gonum/blas/blas32"

type general = blas32.General

var gonumGemm = blas32.Gemm
