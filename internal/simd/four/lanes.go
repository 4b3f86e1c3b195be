//go:build goexperiment.simd && !amd64 && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

// taken are elements of x, those at the places of bytes that stand v bytes after at.
func taken(x vec, at place, v int) vec {
	places := archsimd.LoadInt8x16Array((*[16]int8)(unsafe.Add(at, v)))
	return x.ToBits().ReshapeToUint8s().BitsToInt8().LookupOrZero(places).ToBits().ReshapeToUint32s().BitsToFloat32()
}
