//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// RowDots sets the inner products of heads of n columns of rows of x and y, or with add adds them. A yStride of 0 is one
// row y for all:
//
//	w[i,h] = (add ? w[i,h] : 0) + ⟨x[i,h,:], y[i,h,:]⟩
//
//go:nosplit
func RowDots(w, x, y place, rows, heads, n, wStride, xStride, yStride, add int) {
	step := n * 4
	for ; rows > 0; rows-- {
		o, p, q := w, x, y
		for h := heads; h > 0; h-- {
			var a, b vec
			u, v, j := p, q, n
			for ; j >= 8; j -= 8 {
				a, b = fused(a, ld(u, 0), ld(v, 0)), fused(b, ld(u, 16), ld(v, 16))
				u, v = unsafe.Add(u, 32), unsafe.Add(v, 32)
			}
			if j >= 4 {
				a = fused(a, ld(u, 0), ld(v, 0))
				u, v, j = on(u), on(v), j-4
			}
			s := sum(a.Add(b))
			for ; j > 0; j-- {
				s += one(u, 0) * one(v, 0)
				u, v = unsafe.Add(u, 4), unsafe.Add(v, 4)
			}
			if add != 0 {
				s += one(o, 0)
			}
			put(s, o, 0)
			o, p, q = unsafe.Add(o, 4), unsafe.Add(p, step), unsafe.Add(q, step)
		}
		w, x, y = unsafe.Add(w, wStride), unsafe.Add(x, xStride), unsafe.Add(y, yStride)
	}
}

// RowDots8 is RowDots of four heads of eight columns.
//
//go:nosplit
func RowDots8(w, x, y place, rows, wStride, xStride, yStride, add int) {
	for ; rows > 0; rows-- {
		a, b := fused(ld(x, 0).Mul(ld(y, 0)), ld(x, 16), ld(y, 16)), fused(ld(x, 32).Mul(ld(y, 32)), ld(x, 48), ld(y, 48))
		c, d := fused(ld(x, 64).Mul(ld(y, 64)), ld(x, 80), ld(y, 80)), fused(ld(x, 96).Mul(ld(y, 96)), ld(x, 112), ld(y, 112))
		s := sums(a, b, c, d)
		if add != 0 {
			s = s.Add(ld(w, 0))
		}
		st(s, w, 0)
		w, x, y = unsafe.Add(w, wStride), unsafe.Add(x, xStride), unsafe.Add(y, yStride)
	}
}

// RowsScaled adds rows of x to rows of y, each head of n columns times its number. A stride of 0 is one row for all:
//
//	y[i,h,:] += w[i,h]·x[i,h,:]
//
//go:nosplit
func RowsScaled(y, x, w place, rows, heads, n, yStride, xStride, wStride int) {
	last, step := n*4-16, n*4
	for ; rows > 0; rows-- {
		p, q, c := y, x, w
		for h := heads; h > 0; h-- {
			v := one(c, 0)
			if last >= 0 {
				by := all(v)
				end := fused(ld(p, last), ld(q, last), by)
				for j := 0; j < last; j += 16 {
					st(fused(ld(p, j), ld(q, j), by), p, j)
				}
				st(end, p, last)
			} else {
				for j := 0; j < step; j += 4 {
					put(one(p, j)+one(q, j)*v, p, j)
				}
			}
			p, q, c = unsafe.Add(p, step), unsafe.Add(q, step), unsafe.Add(c, 4)
		}
		y, x, w = unsafe.Add(y, yStride), unsafe.Add(x, xStride), unsafe.Add(w, wStride)
	}
}

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
