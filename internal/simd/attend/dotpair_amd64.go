//go:build !noasm && !f64

package attend

// pairsFast takes eight heads at a time, and each of the rest alone.
func (e *DotPair) pairsFast(rows int) bool {
	d, h := e.Width, 0
	for ; e.H-h >= 8; h += 8 {
		x, a, b, l, r := &e.X[h*d], &e.A[h*d], &e.B[h*d], &e.L[h], &e.R[h]
		if d < 8 {
			dotPairs8cut(x, a, b, l, r, rows, e.H, d)
		} else {
			dotPairs8(x, a, b, l, r, rows, e.H, d)
		}
	}
	for ; h < e.H; h++ {
		x, a, b, l, r := &e.X[h*d], &e.A[h*d], &e.B[h*d], &e.L[h], &e.R[h]
		if d < 8 {
			dotPairs1cut(x, a, b, l, r, rows, e.H, d)
		} else {
			dotPairs1(x, a, b, l, r, rows, e.H, d)
		}
	}
	return true
}

// gradFast takes two heads at a time, or one.
func (e *DotPair) gradFast(to DotPairGrads, rows int) bool {
	d, h := e.Width, 0
	for ; d == 8 && e.H-h >= 2; h += 2 {
		dotPairGrads2(&e.X[h*d], &to.X[h*d], &e.A[h*d], &e.B[h*d], &to.A[h*d], &to.B[h*d], &e.L[h], &e.R[h], rows, e.H, d)
	}
	for ; h < e.H; h++ {
		x, dx, a, b, da, db := &e.X[h*d], &to.X[h*d], &e.A[h*d], &e.B[h*d], &to.A[h*d], &to.B[h*d]
		if d < 8 {
			dotPairGrads1cut(x, dx, a, b, da, db, &e.L[h], &e.R[h], rows, e.H, d)
		} else {
			dotPairGrads1(x, dx, a, b, da, db, &e.L[h], &e.R[h], rows, e.H, d)
		}
	}
	return true
}
