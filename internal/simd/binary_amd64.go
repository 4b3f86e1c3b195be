//go:build !noasm && !f64

package simd

// forwardFast is Forward in assembly, if one step or both are 1.
func (b Binary) forwardFast(z, x, y []Float, sx, sy int) bool {
	if sx == 0 && sy == 0 {
		return false
	}
	n := len(z)
	if n == 0 {
		return true
	}
	_, _ = x[(n-1)*sx], y[(n-1)*sy]
	for lo := 0; lo < n; lo += most {
		part := z[lo:min(lo+most, n)]
		switch {
		case sy == 0:
			b.byNumber(part, x[lo:], y[0])
		case sx == 0:
			b.ofNumber(part, x[0], y[lo:])
		default:
			b.ofSlices(part, x[lo:], y[lo:])
		}
	}
	return true
}

func (b Binary) ofSlices(z, x, y []Float) {
	to, p, q, n := &z[0], &x[0], &y[0], len(z)
	switch b {
	case Add:
		addAVX2(to, p, q, n)
	case Sub:
		subAVX2(to, p, q, n)
	case Mul:
		mulAVX2(to, p, q, n)
	case Div:
		divAVX2(to, p, q, n)
	case Min:
		minAVX2(to, p, q, n)
	case Max:
		maxAVX2(to, p, q, n)
	}
}

func (b Binary) byNumber(z, x []Float, c Float) {
	to, p, n := &z[0], &x[0], len(z)
	switch b {
	case Add:
		addNumAVX2(to, p, n, c)
	case Sub:
		subNumAVX2(to, p, n, c)
	case Mul:
		mulNumAVX2(to, p, n, c)
	case Div:
		divNumAVX2(to, p, n, c)
	case Min:
		minNumAVX2(to, p, n, c)
	case Max:
		maxNumAVX2(to, p, n, c)
	}
}

func (b Binary) ofNumber(z []Float, c Float, y []Float) {
	switch b {
	case Sub:
		numBysubAVX2(&z[0], &y[0], len(z), c)
	case Div:
		numBydivAVX2(&z[0], &y[0], len(z), c)
	default:
		b.byNumber(z, y, c)
	}
}

// backwardXFast is BackwardX in assembly; false means that there is none.
func (b Binary) backwardXFast(dx, dz, y []Float, sx, sy int) bool {
	if len(dz) == 0 {
		return true
	}
	switch b {
	case Add, Sub:
		addProduct(dx, dz, sx, 1)
	case Mul:
		mulProduct(dx, dz, y, sx, sy)
	case Div:
		if sx == 0 || sy == 0 {
			return false
		}
		return Log.backwardFast(dx[:len(dz)], dz, y[:len(dz)], y[:len(dz)], 0)
	default:
		return false
	}
	return true
}

// backwardYFast is BackwardY in assembly; false means that there is none.
func (b Binary) backwardYFast(dy, dz, x []Float, sx, sy int) bool {
	if len(dz) == 0 {
		return true
	}
	switch b {
	case Add:
		addProduct(dy, dz, sy, 1)
	case Sub:
		addProduct(dy, dz, sy, -1)
	case Mul:
		mulProduct(dy, dz, x, sy, sx)
	default:
		return false
	}
	return true
}

// addProduct is d[i·s] += c·dz[i].
func addProduct(d, dz []Float, s int, c Float) {
	if s == 0 {
		d[0] += c * Sum(dz)
		return
	}
	Axpy(d, c, dz)
}

// mulProduct is d[i·s] += dz[i]·x[i·sx].
func mulProduct(d, dz, x []Float, s, sx int) {
	switch n := len(dz); {
	case sx == 0:
		addProduct(d, dz, s, x[0])
	case s == 0:
		d[0] += Dot(dz, x)
	default:
		d, x = d[:n], x[:n]
		for lo := 0; lo < n; lo += most {
			mulAddAVX2(&d[lo], &dz[lo], &x[lo], min(most, n-lo))
		}
	}
}
