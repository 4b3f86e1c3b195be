//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// The kernels here take rows of n columns, stride bytes apart, and numbers of the columns.

// TopRows raises top to the largest of each column. A NaN is passed over.
//
//go:nosplit
func TopRows(top, x place, rows, n, stride int) {
	for ; n >= 4; n -= 4 {
		m, p := ld(top, 0), x
		for i := rows; i > 0; i-- {
			v := ld(p, 0)
			m = v.IfElse(v.Greater(m), m)
			p = unsafe.Add(p, stride)
		}
		st(m, top, 0)
		top, x = on(top), on(x)
	}
	if n > 0 {
		m := get(top, n)
		for ; rows > 0; rows-- {
			v := get(x, n)
			m = v.IfElse(v.Greater(m), m)
			x = unsafe.Add(x, stride)
		}
		set(m, top, n)
	}
}

// WeighRows sets y to exp(x − top), where no x exceeds its column's top, and adds it to sum, unless that is nil. y may be x.
// Infinities of one sign have no difference, but −∞ weighs nothing.
//
//go:nosplit
func WeighRows(y, x, top, sum, t place, rows, n, stride int) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, lo, floor := ld(t, half), ld(t, least), num(-maxFloat)
	for ; n >= 4; n -= 4 {
		most, a, p, o := ld(top, 0).Max(floor), vec{}, x, y
		if sum != nil {
			a = ld(sum, 0)
		}
		for i := rows; i > 0; i-- {
			v := ld(p, 0)
			k, r := rest(vec{}.IfElse(v.Equal(most), v.Sub(most)).Max(lo), l, s, m0, m1)
			q := r.Mul(r)
			v = raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t)
			a = a.Add(v)
			st(v, o, 0)
			p, o = unsafe.Add(p, stride), unsafe.Add(o, stride)
		}
		if sum != nil {
			st(a, sum, 0)
			sum = on(sum)
		}
		y, x, top = on(y), on(x), on(top)
	}
	if n > 0 {
		most, a := get(top, n).Max(floor), vec{}
		if sum != nil {
			a = get(sum, n)
		}
		for ; rows > 0; rows-- {
			v := get(x, n)
			k, r := rest(vec{}.IfElse(v.Equal(most), v.Sub(most)).Max(lo), l, s, m0, m1)
			q := r.Mul(r)
			v = raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t)
			a = a.Add(v)
			set(v, y, n)
			x, y = unsafe.Add(x, stride), unsafe.Add(y, stride)
		}
		if sum != nil {
			set(a, sum, n)
		}
	}
}

// DivideRows divides each column by its number, unless that is 0.
//
//go:nosplit
func DivideRows(y, by place, rows, n, stride int) {
	unit := num(1)
	for ; n >= 4; n -= 4 {
		d, p := ld(by, 0), y
		d = unit.IfElse(d.Equal(vec{}), d)
		for i := rows; i > 0; i-- {
			st(ld(p, 0).Div(d), p, 0)
			p = unsafe.Add(p, stride)
		}
		y, by = on(y), on(by)
	}
	if n > 0 {
		d := get(by, n)
		d = unit.IfElse(d.Equal(vec{}), d)
		for ; rows > 0; rows-- {
			set(get(y, n).Div(d), y, n)
			y = unsafe.Add(y, stride)
		}
	}
}

// maxFloat is the largest number.
const maxFloat = 0x1p127 * (2 - 0x1p-23)
