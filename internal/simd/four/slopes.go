//go:build goexperiment.simd && !noasm && !f64

package four

// LeakyReLUSlope sets dx to dy where x > 0, else c·dy, for n elements, or with add adds that to it.
//
//go:nosplit
func LeakyReLUSlope(dx, dy, x place, n, add int, c float32) {
	by := all(c)
	for ; n >= 4; n -= 4 {
		g := ld(dy, 0)
		g = leaky(ld(x, 0), g, g.Mul(by))
		if add != 0 {
			g = g.Add(ld(dx, 0))
		}
		st(g, dx, 0)
		dx, dy, x = on(dx), on(dy), on(x)
	}
	if n > 0 {
		g := get(dy, n)
		g = leaky(get(x, n), g, g.Mul(by))
		if add != 0 {
			g = g.Add(get(dx, n))
		}
		set(g, dx, n)
	}
}

// ELUSlope sets dx to dy where x > 0, else dy·(y + c), for n elements, or with add adds that to it.
//
//go:nosplit
func ELUSlope(dx, dy, x, y place, n, add int, c float32) {
	by := all(c)
	for ; n >= 4; n -= 4 {
		g := ld(dy, 0)
		g = leaky(ld(x, 0), g, g.Mul(ld(y, 0).Add(by)))
		if add != 0 {
			g = g.Add(ld(dx, 0))
		}
		st(g, dx, 0)
		dx, dy, x, y = on(dx), on(dy), on(x), on(y)
	}
	if n > 0 {
		g := get(dy, n)
		g = leaky(get(x, n), g, g.Mul(get(y, n).Add(by)))
		if add != 0 {
			g = g.Add(get(dx, n))
		}
		set(g, dx, n)
	}
}

// SigmoidSlope sets dx to dy·y·(1 − y), for n elements, or with add adds that to it.
//
//go:nosplit
func SigmoidSlope(dx, dy, y place, n, add int) {
	by := num(1)
	for ; n >= 4; n -= 4 {
		g := ld(dy, 0)
		g = sigmoidSlope(g, ld(y, 0), by)
		if add != 0 {
			g = g.Add(ld(dx, 0))
		}
		st(g, dx, 0)
		dx, dy, y = on(dx), on(dy), on(y)
	}
	if n > 0 {
		g := get(dy, n)
		g = sigmoidSlope(g, get(y, n), by)
		if add != 0 {
			g = g.Add(get(dx, n))
		}
		set(g, dx, n)
	}
}

// TanhSlope sets dx to dy·(1 − y²), for n elements, or with add adds that to it.
//
//go:nosplit
func TanhSlope(dx, dy, y place, n, add int) {
	by := num(1)
	for ; n >= 4; n -= 4 {
		g := ld(dy, 0)
		g = tanhSlope(g, ld(y, 0), by)
		if add != 0 {
			g = g.Add(ld(dx, 0))
		}
		st(g, dx, 0)
		dx, dy, y = on(dx), on(dy), on(y)
	}
	if n > 0 {
		g := get(dy, n)
		g = tanhSlope(g, get(y, n), by)
		if add != 0 {
			g = g.Add(get(dx, n))
		}
		set(g, dx, n)
	}
}

// Axpy adds c·x to y, the product rounded, for n elements.
//
//go:nosplit
func Axpy(y, x place, n int, c float32) {
	by := all(c)
	for ; n >= 4; n -= 4 {
		st(add(ld(y, 0), ld(x, 0), by), y, 0)
		y, x = on(y), on(x)
	}
	if n > 0 {
		set(add(get(y, n), get(x, n), by), y, n)
	}
}

// sigmoidSlope and tanhSlope are g times the slope where the function is y.
func sigmoidSlope(g, y, unit vec) vec { return g.Mul(y).Mul(unit.Sub(y)) }
func tanhSlope(g, y, unit vec) vec    { return g.Mul(fused(unit, y, y.Neg())) }
