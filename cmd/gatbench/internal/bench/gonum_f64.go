//go:build f64

package bench

import "gonum.org/v1/gonum/blas/blas64"

type general = blas64.General

var gonumGemm = blas64.Gemm
