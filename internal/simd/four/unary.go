//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Scale sets y to c·x, for n elements. y may be x.
//
//go:nosplit
func Scale(y, x place, n int, c float32) {
	by := all(c)
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		quad(y, 32, v0.Mul(by), v1.Mul(by), v2.Mul(by), v3.Mul(by))
		y, x = unsafe.Add(y, 64), unsafe.Add(x, 64)
	}
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(v.Mul(by), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		set(v.Mul(by), y, n)
	}
}

// Shift sets y to x + c, for n elements. y may be x.
//
//go:nosplit
func Shift(y, x place, n int, c float32) {
	by := all(c)
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		quad(y, 32, v0.Add(by), v1.Add(by), v2.Add(by), v3.Add(by))
		y, x = unsafe.Add(y, 64), unsafe.Add(x, 64)
	}
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(v.Add(by), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		set(v.Add(by), y, n)
	}
}

// LeakyReLU sets y to x where x > 0, else c·x, for n elements. y may be x.
//
//go:nosplit
func LeakyReLU(y, x place, n int, c float32) {
	by := all(c)
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		quad(y, 32, leaky(v0, v0, v0.Mul(by)), leaky(v1, v1, v1.Mul(by)), leaky(v2, v2, v2.Mul(by)), leaky(v3, v3, v3.Mul(by)))
		y, x = unsafe.Add(y, 64), unsafe.Add(x, 64)
	}
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(leaky(v, v, v.Mul(by)), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		set(leaky(v, v, v.Mul(by)), y, n)
	}
}

// ELU sets y to x where x > 0, else c·(eˣ − 1), for n elements. y may be x.
//
//go:nosplit
func ELU(y, x, t place, n int, c float32) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	low := ld(t, below)
	by := all(c)
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		k, r := rest(v.Min(vec{}).Max(low), l, s, m0, m1)
		q := r.Mul(r)
		st(leaky(v, v, lessOne(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Mul(by)), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		k, r := rest(v.Min(vec{}).Max(low), l, s, m0, m1)
		q := r.Mul(r)
		set(leaky(v, v, lessOne(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Mul(by)), y, n)
	}
}

// Sigmoid sets y to 1/(1 + e⁻ˣ), for n elements. y may be x.
//
//go:nosplit
func Sigmoid(y, x, t place, n int) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, lo := ld(t, half), ld(t, least)
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		k, r := rest(v.Min(vec{}.Sub(v)).Max(lo), l, s, m0, m1)
		q := r.Mul(r)
		st(share(v, raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t), u), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		k, r := rest(v.Min(vec{}.Sub(v)).Max(lo), l, s, m0, m1)
		q := r.Mul(r)
		set(share(v, raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t), u), y, n)
	}
}

// Tanh sets y to tanh x, for n elements. y may be x.
//
//go:nosplit
func Tanh(y, x, t place, n int) {
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		st(tanh(v, t), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		set(tanh(v, t), y, n)
	}
}

// Exp sets y to eˣ, for n elements. y may be x.
//
//go:nosplit
func Exp(y, x, t place, n int) {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	h, lo, hi := ld(t, half), ld(t, least), ld(t, most)
	for ; n >= 4; n -= 4 {
		v := ld(x, 0)
		k, r := rest(v.Max(lo).Min(hi), l, s, m0, m1)
		q := r.Mul(r)
		st(raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n)
		k, r := rest(v.Max(lo).Min(hi), l, s, m0, m1)
		q := r.Mul(r)
		set(raised(series(r, q, p0, p1, p3, t), q, r, k, u, e, s, h, t), y, n)
	}
}
