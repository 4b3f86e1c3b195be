package tensor

import "github.com/edgewise-ml/edgewise/internal/simd"

// SoftmaxRows sets dst to eˣ/Σeˣ along the last axis. A row of −Inf alone
// becomes zeros; of several +Inf, each gets an equal share. dst may be x itself
// but must not overlap it otherwise.
func SoftmaxRows(dst, x *Dense) {
	scan("SoftmaxRows", dst, x, func(to, from []Float) { simd.Softmax(to, from) })
}

// LogSoftmaxRows sets dst to x − log Σeˣ along the last axis: the logarithm of
// what [SoftmaxRows] gives, also where that is zero. dst may be x itself but
// must not overlap it otherwise.
func LogSoftmaxRows(dst, x *Dense) { scan("LogSoftmaxRows", dst, x, simd.LogSoftmax) }
