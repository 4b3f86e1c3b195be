//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"math"
	"simd/archsimd"
	"unsafe"
)

// vec is four elements.
type vec = archsimd.Float32x4

// mask is all ones or zeros in each of four places.
type mask = archsimd.Mask32x4

// place is somewhere in an array.
type place = unsafe.Pointer

// ld and st are vectors so many bytes after p.
func ld(p place, at int) vec { return archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(p, at))) }
func st(x vec, p place, at int) {
	x.StoreArray((*[4]float32)(unsafe.Add(p, at)))
}

// all is an element four times, and num a constant, which must not come from memory.
func all(x float32) vec { return archsimd.BroadcastFloat32x4(x) }
func num(x float32) vec {
	return archsimd.BroadcastUint32x4(math.Float32bits(x)).BitsToFloat32()
}

// one is the element so many bytes after p.
func one(p place, at int) float32 { return *(*float32)(unsafe.Add(p, at)) }

// put sets it.
func put(x float32, p place, at int) { *(*float32)(unsafe.Add(p, at)) = x }

// index and offset are the number k of int32s, and of int64s.
func index(p place, k int) int  { return int(*(*int32)(unsafe.Add(p, k*4))) }
func offset(p place, k int) int { return int(*(*int64)(unsafe.Add(p, k*8))) }

// add is a + x·b, the product rounded; fused rounds once where the processor does.
func add(a, x, b vec) vec { return a.Add(x.Mul(b)) }

// sum is the sum of the elements, in pairs.
func sum(x vec) float32 {
	return (x.GetElem(0) + x.GetElem(1)) + (x.GetElem(2) + x.GetElem(3))
}

// bits are those of the element so many bytes after p.
func bits(p place, at int) uint32 { return *(*uint32)(unsafe.Add(p, at)) }

// get is the last n elements at p, fewer than four, and zeros. The compiler loads before it knows whether there are so many, so
// each load is of an element that is there.
func get(p place, n int) vec {
	second, last := bits(p, n*2&^3), bits(p, n*4-4)
	b := archsimd.BroadcastUint32x4(0).SetElem(0, bits(p, 0))
	if n > 1 {
		b = b.SetElem(1, second)
		if n > 2 {
			b = b.SetElem(2, last)
		}
	}
	return b.BitsToFloat32()
}

// set sets the last n elements at p, fewer than four.
func set(x vec, p place, n int) {
	put(x.GetElem(0), p, 0)
	if n > 1 {
		put(x.GetElem(1), p, 4)
		if n > 2 {
			put(x.GetElem(2), p, 8)
		}
	}
}

// on is the place of the next vector.
func on(p place) place { return unsafe.Add(p, 16) }
