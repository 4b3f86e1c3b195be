//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Weigh sets n logits x to weights, of which it returns the sum. What is low or further below top, with a low from −87 to
// 0, weighs nothing; top is not −∞:
//
//	x = by·exp(x·scale − top), 0 where x·scale − top ≤ low
//
//go:nosplit
func Weigh(x, t place, n int, scale, top, low, by float32) float32 {
	l, s, m0, m1 := ld(t, log2e), ld(t, shifter), ld(t, minusLog2), ld(t, minusLess)
	p0, p1, p3, u, e := ld(t, power0), ld(t, power1), ld(t, power3), ld(t, unit), ld(t, exponent)
	times, most, lo, to := all(scale), all(top), all(low), all(by)
	var a, none vec
	for ; n >= 4; n -= 4 {
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
	total := sum(a)
	if n > 0 {
		v := get(x, n).Mul(times)
		d := none.IfElse(v.Equal(most), v.Sub(most)).Max(lo)
		k, r := rest(d, l, s, m0, m1)
		q := r.Mul(r)
		v = ordinary(series(r, q, p0, p1, p3, t), q, r, k, u, e, t).Mul(to)
		v = none.IfElse(d.Equal(lo), v)
		set(v, x, n)
		for ; n > 0; n-- {
			total += one(x, 0)
			x = unsafe.Add(x, 4)
		}
	}
	return total
}
