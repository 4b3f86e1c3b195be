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

// turned are the columns of four rows.
func turned(a, b, c, d vec) (w, x, y, z vec) {
	return nth(a, b, c, d, 0), nth(a, b, c, d, 1), nth(a, b, c, d, 2), nth(a, b, c, d, 3)
}

// nth are the elements number i of four vectors.
func nth(a, b, c, d vec, i uint8) vec {
	return vec{}.SetElem(0, a.GetElem(i)).SetElem(1, b.GetElem(i)).SetElem(2, c.GetElem(i)).SetElem(3, d.GetElem(i))
}

// fused is a + x·b, rounded twice: the processor is anything, and has no such instruction for certain.
func fused(a, x, b vec) vec { return a.Add(x.Mul(b)) }
