//go:build goexperiment.simd && !noasm && !f64

package four

import (
	"simd/archsimd"
	"unsafe"
)

// Range i of rows has the rows off[i] to off[i+1], counted from off[0]. Kernels of ranges take four columns of rows that are stride bytes
// apart, each on its own.

// SoftmaxRanges sets y to the softmax of x over each range, and keeps the largest entry and the sum of what follows, apart bytes from those
// of the range before. If these are known it takes them as they are. y may be x.
//
//	y[r,j] = e^(x[r,j] − top[j]) / sum[j]    1 for e^(∞−∞), 0 for e^(−∞+∞)
//
//go:nosplit
func SoftmaxRanges(y, x, top, sum, off, t place, ranges, stride, apart, known int) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, lo, never := ld(t, half), ld(t, least), archsimd.BroadcastUint32x4(0xff800000).BitsToFloat32()
	for ; ranges > 0; ranges-- {
		bytes := (offset(off, 1) - offset(off, 0)) * stride
		if bytes > 0 {
			m := ld(top, 0)
			if known == 0 {
				m = never
				for at := 0; at < bytes; at += stride {
					v := ld(unsafe.Add(x, at), 0)
					m = v.IfElse(v.Greater(m), m) // passes over a NaN
				}
				st(m, top, 0)
			}
			var total vec
			for at := 0; at < bytes; at += stride {
				v := ld(unsafe.Add(x, at), 0)
				k, r := rest(v.Sub(m).Max(lo), l, s, m0, m1)
				q := r.Mul(r)
				w := raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t)
				w = u.Masked(v.Greater(never)).IfElse(v.Equal(m), w)
				st(w, unsafe.Add(y, at), 0)
				total = total.Add(w)
			}
			if known == 0 {
				st(total, sum, 0)
			} else {
				total = ld(sum, 0)
			}
			total = total.IfElse(total.NotEqual(vec{}), u)
			for at := 0; at < bytes; at += stride {
				p := unsafe.Add(y, at)
				st(ld(p, 0).Div(total), p, 0)
			}
			y, x = unsafe.Add(y, bytes), unsafe.Add(x, bytes)
		}
		top, sum, off = unsafe.Add(top, apart), unsafe.Add(sum, apart), unsafe.Add(off, 8)
	}
}

// SoftmaxRangesSlope adds to dx, or sets it to, the gradient of softmaxes y of ranges, each product rounded:
//
//	dx[r,j] += y[r,j]·(dy[r,j] − Σ_r y[r,j]·dy[r,j])
//
//go:nosplit
func SoftmaxRangesSlope(dx, y, dy, off place, ranges, stride, plus int) {
	for ; ranges > 0; ranges-- {
		bytes := (offset(off, 1) - offset(off, 0)) * stride
		var c vec
		for at := 0; at < bytes; at += stride {
			c = add(c, ld(unsafe.Add(y, at), 0), ld(unsafe.Add(dy, at), 0))
		}
		for at := 0; at < bytes; at += stride {
			v, p := ld(unsafe.Add(y, at), 0).Mul(ld(unsafe.Add(dy, at), 0).Sub(c)), unsafe.Add(dx, at)
			if plus != 0 {
				v = v.Add(ld(p, 0))
			}
			st(v, p, 0)
		}
		dx, y, dy, off = unsafe.Add(dx, bytes), unsafe.Add(y, bytes), unsafe.Add(dy, bytes), unsafe.Add(off, 8)
	}
}
