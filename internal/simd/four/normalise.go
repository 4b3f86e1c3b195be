//go:build goexperiment.simd && !noasm && !f64

package four

import "unsafe"

// Normalise sets a row of n elements without its mean, in two steps, times a scale:
//
//	y = (x − mean − rest)·scale·gain + with    each product rounded
//
// A nil gain is 1, a nil with 0. y may be x or with.
//
//go:nosplit
func Normalise(y, x, gain, with place, n int, mean, rest, scale float32) {
	m, lost, by := all(mean), all(rest), all(scale)
	for ; n >= 4; n -= 4 {
		v := ld(x, 0).Sub(m).Sub(lost).Mul(by)
		if gain != nil {
			v = v.Mul(ld(gain, 0))
			gain = on(gain)
		}
		if with != nil {
			v = v.Add(ld(with, 0))
			with = on(with)
		}
		st(v, y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		v := get(x, n).Sub(m).Sub(lost).Mul(by)
		if gain != nil {
			v = v.Mul(get(gain, n))
		}
		if with != nil {
			v = v.Add(get(with, n))
		}
		set(v, y, n)
	}
}

// NormaliseSlope sets, or with add adds to, the gradient of a row that was normalised:
//
//	dx = (x − mean − rest)·slope + at0 + scale·dg    each product rounded
//
//go:nosplit
func NormaliseSlope(dx, dg, x place, n, plus int, mean, rest, scale, slope, at0 float32) {
	m, lost, by, lean, off := all(mean), all(rest), all(scale), all(slope), all(at0)
	for ; n >= 4; n -= 4 {
		v := add(add(off, ld(x, 0).Sub(m).Sub(lost), lean), ld(dg, 0), by)
		if plus != 0 {
			v = v.Add(ld(dx, 0))
		}
		st(v, dx, 0)
		dx, dg, x = on(dx), on(dg), on(x)
	}
	if n > 0 {
		v := add(add(off, get(x, n).Sub(m).Sub(lost), lean), get(dg, n), by)
		if plus != 0 {
			v = v.Add(get(dx, n))
		}
		set(v, dx, n)
	}
}

// NormaliseSums adds what a row contributes to the gradients of the gain and, where that is not nil, of the bias:
//
//	gain += (x − mean − rest)·scale·dy    bias += dy
//
//go:nosplit
func NormaliseSums(gain, bias, x, dy place, n int, mean, rest, scale float32) {
	m, lost, by := all(mean), all(rest), all(scale)
	for ; n >= 4; n -= 4 {
		d := ld(dy, 0)
		st(add(ld(gain, 0), ld(x, 0).Sub(m).Sub(lost).Mul(by), d), gain, 0)
		if bias != nil {
			st(ld(bias, 0).Add(d), bias, 0)
			bias = on(bias)
		}
		gain, x, dy = on(gain), on(x), on(dy)
	}
	if n > 0 {
		d := get(dy, n)
		set(add(get(gain, n), get(x, n).Sub(m).Sub(lost).Mul(by), d), gain, n)
		if bias != nil {
			set(get(bias, n).Add(d), bias, n)
		}
	}
}

// Welford takes the row x of n columns, a multiple of four, number count, into the means of rows, mean + low, and the sums of squared distances from them.
//
//go:nosplit
func Welford(sum, mean, low, x place, n int, count float32) {
	for by := all(count); n > 0; n -= 4 {
		v, old, lost := ld(x, 0), ld(mean, 0), ld(low, 0)
		d := v.Sub(old).Sub(lost)
		e := d.Div(by)
		m := old.Add(e)
		took := m.Sub(old)
		lost = lost.Add(old.Sub(m.Sub(took)).Add(e.Sub(took)))
		st(lost, low, 0)
		st(m, mean, 0)
		st(fused(ld(sum, 0), d, v.Sub(m).Sub(lost)), sum, 0)
		sum, mean, low, x = on(sum), on(mean), on(low), on(x)
	}
}

// WideSums adds Σ x and Σ x·y, of n elements, to two float64. Of every sixteen elements it adds fours in float32.
//
//go:nosplit
func WideSums(sums, x, y place, n int) {
	s, q := *(*float64)(sums), *(*float64)(unsafe.Add(sums, 8))
	for ; n >= 16; n -= 16 {
		a, b, c, d := ld(x, 0), ld(x, 16), ld(x, 32), ld(x, 48)
		v := a.Add(b).Add(c.Add(d))
		w := fused(a.Mul(ld(y, 0)), b, ld(y, 16)).Add(fused(c.Mul(ld(y, 32)), d, ld(y, 48)))
		s += (float64(v.GetElem(0)) + float64(v.GetElem(1))) + (float64(v.GetElem(2)) + float64(v.GetElem(3)))
		q += (float64(w.GetElem(0)) + float64(w.GetElem(1))) + (float64(w.GetElem(2)) + float64(w.GetElem(3)))
		x, y = unsafe.Add(x, 64), unsafe.Add(y, 64)
	}
	for ; n > 0; n-- {
		v := float64(one(x, 0))
		s += v
		q += v * float64(one(y, 0))
		x, y = unsafe.Add(x, 4), unsafe.Add(y, 4)
	}
	*(*float64)(sums), *(*float64)(unsafe.Add(sums, 8)) = s, q
}
