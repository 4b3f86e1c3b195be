package tensor

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd"
)

// SoftmaxRows sets dst to eˣ/Σeˣ along the last axis. A row of −Inf alone
// becomes zeros; of several +Inf, each gets an equal share. dst may be x itself
// but must not overlap it otherwise.
func SoftmaxRows(dst, x *Dense) {
	scan("SoftmaxRows", dst, x, func(to, from []Float) { simd.Softmax(to, from) })
}

// LogSoftmaxRows sets dst to x − log Σeˣ along the last axis: the logarithm of
// what [SoftmaxRows] gives, also where that is zero. dst may be x itself but
// must not overlap it otherwise.
func LogSoftmaxRows(dst, x *Dense) { scan("LogSoftmaxRows", dst, x, logSoftmax) }

func logSoftmax(to, from []Float) {
	m := simd.MaxOf(from)
	if math.IsInf(float64(m), 0) { // an infinity less itself has no value
		simd.Softmax(to, from)
		simd.Log.Forward(to, to, 0)
		return
	}
	simd.Shift.Forward(to, from, -m) // first, as m + log Σe^(x−m) is rounded coarsely where m is large
	simd.Shift.Forward(to, to, -simd.LogSumExp(to))
}
