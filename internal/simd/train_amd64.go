//go:build !noasm && !f64

package simd

func (a *Adam) stepFast(w, dw, m, v []Float) {
	n := len(w)
	for lo := 0; lo < n; lo += most {
		adamAVX2(&w[lo], &dw[lo], &m[lo], &v[lo], min(most, n-lo), &a.Rate)
	}
}

func (d *Dropout) addFast(dst, src []Float, key uint32) {
	n, scale := len(src), Float(d.Scale)
	for lo := 0; lo < n; lo += most {
		dropoutAVX2(&dst[lo], &src[lo], min(most, n-lo), key+uint32(lo)*golden, d.drop, scale)
	}
}
