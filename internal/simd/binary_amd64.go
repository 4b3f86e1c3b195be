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

// backwardXFast is BackwardX in assembly; false means that there is none. There
// is none for a sum, which is a chain in the order of the elements, so that it
// can be taken in parts.
func (b Binary) backwardXFast(dx, dz, y []Float, sx, sy int) bool {
	if sx == 0 {
		return false
	}
	switch b {
	case Add, Sub:
		Axpy(dx[:len(dz)], 1, dz)
	case Mul:
		addProduct(dx, dz, y, sy)
	case Div:
		if sy == 0 {
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
	if sy == 0 {
		return false
	}
	switch b {
	case Add:
		Axpy(dy[:len(dz)], 1, dz)
	case Sub:
		Axpy(dy[:len(dz)], -1, dz)
	case Mul:
		addProduct(dy, dz, x, sx)
	default:
		return false
	}
	return true
}

// addProduct is d[i] += dz[i]·x[i·s].
func addProduct(d, dz, x []Float, s int) {
	n := len(dz)
	switch {
	case n == 0:
	case s == 0:
		Axpy(d[:n], x[0], dz)
	default:
		d, x = d[:n], x[:n]
		for lo := 0; lo < n; lo += most {
			mulAddAVX2(&d[lo], &dz[lo], &x[lo], min(most, n-lo))
		}
	}
}
