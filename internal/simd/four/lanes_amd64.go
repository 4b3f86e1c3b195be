//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

// taken are elements of x, those at the places of bytes that stand v bytes after at.
func taken(x vec, at place, v int) vec {
	places := archsimd.LoadInt8x16Array((*[16]int8)(unsafe.Add(at, v)))
	return x.ToBits().ReshapeToUint8s().BitsToInt8().PermuteOrZero(places).ToBits().ReshapeToUint32s().BitsToFloat32()
}
