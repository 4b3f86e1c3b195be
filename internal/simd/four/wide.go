//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// WideSums adds Σ x and Σ x·y, of n elements, to two float64. Of every sixteen elements it adds fours in float32.
//
//go:nosplit
func WideSums(sums, x, y place, n int) {
	s, q := *(*float64)(sums), *(*float64)(unsafe.Add(sums, 8))
	for ; n >= 16; n -= 16 {
		a, b, c, d := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		v := a.Add(b).Add(c.Add(d))
		w := fused(a.Mul(ld(y, 0)), b, ld(y, 16)).Add(fused(c.Mul(ld(y, 32)), d, ld(y, 48)))
		s += (float64(v.GetElem(0)) + float64(v.GetElem(1))) + (float64(v.GetElem(2)) + float64(v.GetElem(3)))
		q += (float64(w.GetElem(0)) + float64(w.GetElem(1))) + (float64(w.GetElem(2)) + float64(w.GetElem(3)))
		x, y = unsafe.Add(x, 64), unsafe.Add(y, 64)
	}
	for ; n > 0; n-- {
		v := float64(one(x, 0))
		s += v
		q += v * float64(one(y, 0))
		x, y = unsafe.Add(x, 4), unsafe.Add(y, 4)
	}
	*(*float64)(sums), *(*float64)(unsafe.Add(sums, 8)) = s, q
}
