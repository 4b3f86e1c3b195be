//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Add sets z to x + y, for n elements. z may be x or y.
//
//go:nosplit
func Add(z, x, y place, n int) {
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0).Add(ld(y, 0)), ld(x, 16).Add(ld(y, 16)), ld(x, 32).Add(ld(y, 32)), ld(x, 48).Add(ld(y, 48))
		quad(z, 32, v0, v1, v2, v3)
		z, x, y = unsafe.Add(z, 64), unsafe.Add(x, 64), unsafe.Add(y, 64)
	}
	for ; n >= 4; n -= 4 {
		st(ld(x, 0).Add(ld(y, 0)), z, 0)
		z, x, y = on(z), on(x), on(y)
	}
	if n > 0 {
		set(get(x, n).Add(get(y, n)), z, n)
	}
}

// Sub sets z to x − y, for n elements. z may be x or y.
//
//go:nosplit
func Sub(z, x, y place, n int) {
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0).Sub(ld(y, 0)), ld(x, 16).Sub(ld(y, 16)), ld(x, 32).Sub(ld(y, 32)), ld(x, 48).Sub(ld(y, 48))
		quad(z, 32, v0, v1, v2, v3)
		z, x, y = unsafe.Add(z, 64), unsafe.Add(x, 64), unsafe.Add(y, 64)
	}
	for ; n >= 4; n -= 4 {
		st(ld(x, 0).Sub(ld(y, 0)), z, 0)
		z, x, y = on(z), on(x), on(y)
	}
	if n > 0 {
		set(get(x, n).Sub(get(y, n)), z, n)
	}
}

// Mul sets z to x·y, for n elements. z may be x or y.
//
//go:nosplit
func Mul(z, x, y place, n int) {
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0).Mul(ld(y, 0)), ld(x, 16).Mul(ld(y, 16)), ld(x, 32).Mul(ld(y, 32)), ld(x, 48).Mul(ld(y, 48))
		quad(z, 32, v0, v1, v2, v3)
		z, x, y = unsafe.Add(z, 64), unsafe.Add(x, 64), unsafe.Add(y, 64)
	}
	for ; n >= 4; n -= 4 {
		st(ld(x, 0).Mul(ld(y, 0)), z, 0)
		z, x, y = on(z), on(x), on(y)
	}
	if n > 0 {
		set(get(x, n).Mul(get(y, n)), z, n)
	}
}

// Div sets z to x/y, for n elements. z may be x or y.
//
//go:nosplit
func Div(z, x, y place, n int) {
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := ld(x, 0).Div(ld(y, 0)), ld(x, 16).Div(ld(y, 16)), ld(x, 32).Div(ld(y, 32)), ld(x, 48).Div(ld(y, 48))
		quad(z, 32, v0, v1, v2, v3)
		z, x, y = unsafe.Add(z, 64), unsafe.Add(x, 64), unsafe.Add(y, 64)
	}
	for ; n >= 4; n -= 4 {
		st(ld(x, 0).Div(ld(y, 0)), z, 0)
		z, x, y = on(z), on(x), on(y)
	}
	if n > 0 {
		set(get(x, n).Div(get(y, n)), z, n)
	}
}

// MulAdd sets z to z + x·y, rounded once where the processor does, for n elements. z may be x or y.
//
//go:nosplit
func MulAdd(z, x, y place, n int) {
	for ; n >= 16; n -= 16 {
		v0, v1, v2, v3 := fused(ld(z, 0), ld(x, 0), ld(y, 0)), fused(ld(z, 16), ld(x, 16), ld(y, 16)), fused(ld(z, 32), ld(x, 32), ld(y, 32)), fused(ld(z, 48), ld(x, 48), ld(y, 48))
		quad(z, 32, v0, v1, v2, v3)
		z, x, y = unsafe.Add(z, 64), unsafe.Add(x, 64), unsafe.Add(y, 64)
	}
	for ; n >= 4; n -= 4 {
		st(fused(ld(z, 0), ld(x, 0), ld(y, 0)), z, 0)
		z, x, y = on(z), on(x), on(y)
	}
	if n > 0 {
		set(fused(get(z, n), get(x, n), get(y, n)), z, n)
	}
}

// HasZero returns 1 if one of n elements is 0 or −0, and else 0.
//
//go:nosplit
func HasZero(x place, n int) int {
	unit := num(1)
	for ; n >= 16; n -= 16 {
		m := ld(x, 0).Equal(vec{}).Or(ld(x, 16).Equal(vec{})).Or(ld(x, 32).Equal(vec{}).Or(ld(x, 48).Equal(vec{})))
		if sum(unit.Masked(m)) != 0 {
			return 1
		}
		x = unsafe.Add(x, 64)
	}
	for ; n > 0; n-- {
		if one(x, 0) == 0 {
			return 1
		}
		x = unsafe.Add(x, 4)
	}
	return 0
}

// AdamStep is a step of the optimiser, of n weights w with the gradient dw and the moments m and v. Of
// a, each four times, are the rate, the decay, 1 − β₁, β₂, 1 − β₂, the root and ε:
//
//	g = dw + decay·w
//	m += (1−β₁)·(g − m)
//	v = β₂·v + (1−β₂)·g²
//	w −= rate·m / (√v·root + ε)
//
//go:nosplit
func AdamStep(w, dw, m, v, a place, n int) {
	rate, decay, gain1, keep2, gain2, root, eps := ld(a, 0), ld(a, 16), ld(a, 32), ld(a, 48), ld(a, 64), ld(a, 80), ld(a, 96)
	for ; n >= 4; n -= 4 {
		w0, m0 := ld(w, 0), ld(m, 0)
		g := fused(ld(dw, 0), decay, w0)
		m0 = fused(m0, gain1, g.Sub(m0))
		v0 := fused(g.Mul(g).Mul(gain2), keep2, ld(v, 0))
		st(m0, m, 0)
		st(v0, v, 0)
		st(w0.Sub(m0.Mul(rate).Div(fused(eps, v0.Sqrt(), root))), w, 0)
		w, dw, m, v = on(w), on(dw), on(m), on(v)
	}
	if n > 0 {
		w0, m0 := get(w, n), get(m, n)
		g := fused(get(dw, n), decay, w0)
		m0 = fused(m0, gain1, g.Sub(m0))
		v0 := fused(g.Mul(g).Mul(gain2), keep2, get(v, n))
		set(m0, m, n)
		set(v0, v, n)
		set(w0.Sub(m0.Mul(rate).Div(fused(eps, v0.Sqrt(), root))), w, n)
	}
}
