package simd

import "math"

// Powers are the exponentials of the two parts of a logit, of eight heads. Since
// LeakyReLU(z) = max(z, Slope·z) for a slope between 0 and 1, and exp grows, the
// exponential of an edge's logit needs none of its own:
//
//	exp(LeakyReLU(x + y)) = max(exp(x)·exp(y), exp(Slope·x)·exp(Slope·y))
//
// It is safe where all parts are tame.
type Powers struct {
	X, Y             []Float // rows of 8, and of 16, or 24 with Copy
	XStride, YStride int
	rows             int
	Copy             int // 1: the rows of Y start with those of X
	most             [8]Float
	slope            [8]Float
}

// tame is how large a part may be: products and sums of powers, times what is
// carried, are then far from overflow and from denormals.
const tame = 24

// Rows sets rows of Y, and reports whether all elements of X are tame; if not, Y
// is of no use:
//
//	Y[r] = [X[r] if Copy] exp(X[r]) exp(slope·X[r])
func (p *Powers) Rows(rows int, slope Float) (ok bool) {
	if rows < 1 {
		return true
	}
	p.rows = rows
	inside(p.X, rows, p.XStride, 8)
	inside(p.Y, rows, p.YStride, 16+8*p.Copy)
	for i := range p.slope {
		p.slope[i] = slope
	}
	if fast {
		p.rowsFast()
	} else {
		p.rowsGo(slope)
	}
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
		y = y[copy(y[:8*p.Copy], x):]
		for h, v := range x {
			y[h], y[8+h] = Float(math.Exp(float64(v))), Float(math.Exp(float64(slope*v)))
			p.most[h] = max(p.most[h], v, -v)
		}
	}
}
