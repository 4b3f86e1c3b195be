//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Max is the largest of n elements, one at least; NaN where there is one.
//
//go:nosplit
func Max(x place, n int) float32 {
	m := all(one(x, 0))
	a, b, c := m, m, m
	for ; n >= 16; n -= 16 {
		m, a, b, c = m.Max(ld(x, 0)), a.Max(ld(x, 16)), b.Max(ld(x, 32)), c.Max(ld(x, 48))
		x = unsafe.Add(x, 64)
	}
	m = m.Max(a).Max(b.Max(c))
	for ; n >= 4; n -= 4 {
		m = m.Max(ld(x, 0))
		x = on(x)
	}
	for ; n > 0; n-- {
		m = m.Max(all(one(x, 0)))
		x = unsafe.Add(x, 4)
	}
	return m.Max(all(m.GetElem(1))).Max(all(m.GetElem(2)).Max(all(m.GetElem(3)))).GetElem(0) // a largest float32 is a call in WebAssembly
}

// ExpSum sets y to e^(x−m), for n elements of which none exceeds m, and returns their sum. y may be x.
//
//go:nosplit
func ExpSum(y, x, t place, n int, m float32) float32 {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, lo, top := ld(t, half), ld(t, least), all(m)
	var a vec
	for ; n >= 4; n -= 4 {
		v := ld(x, 0).Sub(top)
		k, r := rest(v.Max(lo), l, s, m0, m1)
		q := r.Mul(r)
		v = raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t)
		a = a.Add(v)
		st(v, y, 0)
		y, x = on(y), on(x)
	}
	total := sum(a)
	if n > 0 {
		v := get(x, n).Sub(top)
		k, r := rest(v.Max(lo), l, s, m0, m1)
		q := r.Mul(r)
		v = raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t)
		set(v, y, n)
		for ; n > 0; n-- {
			total += one(y, 0)
			y = unsafe.Add(y, 4)
		}
	}
	return total
}

// DivideBy sets y to x/c, for n elements. y may be x.
//
//go:nosplit
func DivideBy(y, x place, n int, c float32) {
	by := all(c)
	for ; n >= 4; n -= 4 {
		st(ld(x, 0).Div(by), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		set(get(x, n).Div(by), y, n)
	}
}

// SoftmaxSlope adds to dx, or sets it to, the gradient of a softmax y whose products with dy sum to dot:
//
//	dx = y·(dy − dot)
//
//go:nosplit
func SoftmaxSlope(dx, dy, y place, n, add int, dot float32) {
	by := all(dot)
	for ; n >= 4; n -= 4 {
		v := ld(y, 0).Mul(ld(dy, 0).Sub(by))
		if add != 0 {
			v = v.Add(ld(dx, 0))
		}
		st(v, dx, 0)
		dx, dy, y = on(dx), on(dy), on(y)
	}
	if n > 0 {
		v := get(y, n).Mul(get(dy, n).Sub(by))
		if add != 0 {
			v = v.Add(get(dx, n))
		}
		set(v, dx, n)
	}
}

// Weigh sets n logits x to weights, of which it returns the sum. n is a multiple of four. What is low or further below top, with a
// low from −87 to 0, weighs nothing; top is not −∞:
//
//	x = by·exp(x·scale − top), 0 where x·scale − top ≤ low
//
//go:nosplit
func Weigh(x, t place, n int, scale, top, low, by float32) float32 {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	times, most, lo, to := all(scale), all(top), all(low), all(by)
	var a, none vec
	for ; n > 0; n -= 4 {
		v := ld(x, 0).Mul(times)
		d := none.IfElse(v.Equal(most), v.Sub(most)).Max(lo) // infinities have no difference
		k, r := rest(d, l, s, m0, m1)
		q := r.Mul(r)
		v = ordinary(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Mul(to)
		v = none.IfElse(d.Equal(lo), v)
		a = a.Add(v)
		st(v, x, 0)
		x = on(x)
	}
	return sum(a)
}
