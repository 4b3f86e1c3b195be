//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

// bits are those of the element so many bytes after p.
func bits(p place, at int) uint32 { return *(*uint32)(unsafe.Add(p, at)) }

// get is the last n elements at p, fewer than four, and zeros.
func get(p place, n int) vec {
	b := archsimd.BroadcastUint32x4(0).SetElem(0, bits(p, 0))
	if n > 1 {
		b = b.SetElem(1, bits(p, 4))
		if n > 2 {
			b = b.SetElem(2, bits(p, 8))
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
