//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Scatter adds n rows of w columns, which a list names, to those of dst that another one does, in order:
//
//	dst[to[k],j] += src[k,j]    for each k of from, in 16 bits
//
//go:nosplit
func Scatter(dst, src, to, from place, n, w int) {
	for stride := w * 4; n > 0; n-- {
		k := int(*(*uint16)(from))
		p, q, j := unsafe.Add(dst, index(to, k)*stride), unsafe.Add(src, k*stride), w
		for ; j >= 16; j -= 16 {
			quad(p, 32, ld(p, 0).Add(ld(q, 0)), ld(p, 16).Add(ld(q, 16)), ld(p, 32).Add(ld(q, 32)), ld(p, 48).Add(ld(q, 48)))
			p, q = unsafe.Add(p, 64), unsafe.Add(q, 64)
		}
		for ; j >= 4; j -= 4 {
			st(ld(p, 0).Add(ld(q, 0)), p, 0)
			p, q = on(p), on(q)
		}
		if j > 0 {
			set(get(p, j).Add(get(q, j)), p, j)
		}
		from = unsafe.Add(from, 2)
	}
}
