//go:build !f64

package kernels

import (
	"gonum.org/v1/gonum/blas/blas32"
)

type (
	general = blas32.General
	strided = blas32.Vector
)

var gonumGemm, gonumAxpy, gonumScal, gonumDot = blas32.Gemm, blas32.Axpy, blas32.Scal, blas32.Dot
