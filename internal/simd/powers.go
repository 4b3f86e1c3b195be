package simd

import "math"

// Powers are the exponentials of the two parts of a logit, of eight heads or one. Since
// LeakyReLU(z) = max(z, Slope·z) for a slope between 0 and 1, and exp grows, the
// exponential of an edge's logit needs none of its own:
//
//	exp(LeakyReLU(x + y)) = max(exp(x)·exp(y), exp(Slope·x)·exp(Slope·y))
//
// It is safe where all parts are tame.
type Powers struct {
	X, Y             []Float // rows of 8, and of 16
	XStride, YStride int
	rows             int
	most             [8]Float
	slope            [8]Float
}

// tame is how large a part may be: products and sums of powers, times what is
// carried, are then far from overflow and from denormals.
const tame = 24

// Rows sets rows of Y, and reports whether all elements of X are tame; if not, Y
// is of no use:
//
//	Y[r] = [exp(X[r]) exp(slope·X[r])]
func (p *Powers) Rows(rows int, slope Float) (ok bool) {
	if rows < 1 {
		return true
	}
	p.rows = rows
	inside(p.X, rows, p.XStride, 8)
	inside(p.Y, rows, p.YStride, 16)
	for i := range p.slope {
		p.slope[i] = slope
	}
	if fast {
		p.rowsFast()
	} else {
		p.rowsGo(slope)
	}
	return p.tamed()
}

// Column sets rows of four elements of Y, for one head, whose parts stand next to
// each other in X. It reports what Rows does:
//
//	Y[r] = [X[r] exp(X[r]) exp(slope·X[r]) 0]
func (p *Powers) Column(rows int, slope Float) (ok bool) {
	for i := range p.slope {
		p.slope[i] = slope
	}
	whole := rows &^ 7
	ok = p.column(whole)
	if rows == whole {
		return ok
	}
	var x [8]Float
	var y [32]Float
	copy(x[:], p.X[whole:rows])
	rest := Powers{X: x[:], Y: y[:], slope: p.slope}
	ok = rest.column(8) && ok
	copy(p.Y[4*whole:4*rows], y[:])
	return ok
}

// column is Column of a number of rows that is a multiple of eight.
func (p *Powers) column(rows int) (ok bool) {
	if rows == 0 {
		return true
	}
	p.rows = rows
	_, _ = p.X[:rows], p.Y[:4*rows]
	if fast {
		p.columnFast()
	} else {
		p.columnGo()
	}
	return p.tamed()
}

func (p *Powers) columnGo() {
	clear(p.most[:])
	for r, v := range p.X[:p.rows] {
		up, down := Float(math.Exp(float64(v))), Float(math.Exp(float64(p.slope[0]*v)))
		copy(p.Y[4*r:], []Float{v, up, down, 0})
		p.most[r%8] = max(p.most[r%8], v, -v)
	}
}

// tamed reports whether all elements seen are tame.
func (p *Powers) tamed() bool {
	for _, m := range p.most {
		if !(m <= tame) {
			return false
		}
	}
	return true
}

func (p *Powers) rowsGo(slope Float) {
	clear(p.most[:])
	for r := range p.rows {
		x, y := p.X[r*p.XStride:][:8], p.Y[r*p.YStride:]
		for h, v := range x {
			y[h], y[8+h] = Float(math.Exp(float64(v))), Float(math.Exp(float64(slope*v)))
			p.most[h] = max(p.most[h], v, -v)
		}
	}
}
