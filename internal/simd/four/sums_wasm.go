//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"math"
	"simd/archsimd"
)

// sums are the sums of the elements of four vectors, each in pairs.
func sums(a, b, c, d vec) vec {
	s := archsimd.BroadcastUint32x4(math.Float32bits(sum(a)))
	return s.SetElem(1, math.Float32bits(sum(b))).SetElem(2, math.Float32bits(sum(c))).SetElem(3, math.Float32bits(sum(d))).BitsToFloat32()
}
