//go:build f64

package kernels

import (
	"gonum.org/v1/gonum/blas/blas64"
)

type (
	general = blas64.General
	strided = blas64.Vector
)

var gonumGemm, gonumAxpy, gonumScal, gonumDot = blas64.Gemm, blas64.Axpy, blas64.Scal, blas64.Dot
