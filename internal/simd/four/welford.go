//go:build goexperiment.simd && !noasm && !f64

package four

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
