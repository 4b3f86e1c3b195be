//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Spread multiplies groups of n elements by a number each; a nil x is 1:
//
//	y[k,j] = (add ? y[k,j] : 0) + c[k]·x[k,j]    the product rounded
//
//go:nosplit
func Spread(y, c, x place, groups, n, add int) {
	for ; groups > 0; groups-- {
		by, j := all(one(c, 0)), n
		for ; j >= 8; j -= 8 {
			v, w := by, by
			if x != nil {
				v, w = v.Mul(ld(x, 0)), w.Mul(ld(x, 16))
				x = unsafe.Add(x, 32)
			}
			if add != 0 {
				v, w = v.Add(ld(y, 0)), w.Add(ld(y, 16))
			}
			st(v, y, 0)
			st(w, y, 16)
			y = unsafe.Add(y, 32)
		}
		for ; j >= 4; j -= 4 {
			v := by
			if x != nil {
				v = v.Mul(ld(x, 0))
				x = on(x)
			}
			if add != 0 {
				v = v.Add(ld(y, 0))
			}
			st(v, y, 0)
			y = on(y)
		}
		if j > 0 {
			v := by
			if x != nil {
				v = v.Mul(get(x, j))
				x = unsafe.Add(x, j*4)
			}
			if add != 0 {
				v = v.Add(get(y, j))
			}
			set(v, y, j)
			y = unsafe.Add(y, j*4)
		}
		c = unsafe.Add(c, 4)
	}
}
