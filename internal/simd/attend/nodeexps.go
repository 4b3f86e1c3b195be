package attend

import (
	"math"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// NodeExps are the exponentials of the two parts of a logit, of eight heads or one. Since
// LeakyReLU(z) = max(z, Slope·z) for a slope between 0 and 1, and exp grows, the
// exponential of an edge's logit needs none of its own:
//
//	exp(LeakyReLU(x + y)) = max(exp(x)·exp(y), exp(Slope·x)·exp(Slope·y))
//
// It is safe where both parts are in range. Else the product is NaN, and so is the sum of all
// that has it in it: by that [NodeExpAttention.Attend] tells which nodes have such an edge.
type NodeExps struct {
	X, Y             []Float // rows of 8, and of 16
	XStride, YStride int
	rows             int
	most             [8]Float
	slope            [8]Float
}

// inRange is how large a part may be: products and sums of powers, times what is
// carried, are then far from overflow and from denormals.
const inRange = 24

// Rows sets rows of Y, and reports whether all elements of X are in range. Both
// exponentials of an element that is not are NaN:
//
//	Y[r] = [exp(X[r]) exp(slope·X[r])]
func (p *NodeExps) Rows(rows int, slope Float) (ok bool) {
	if rows < 1 {
		return true
	}
	p.rows = rows
	inside(p.X, rows, p.XStride, 8)
	inside(p.Y, rows, p.YStride, 16)
	for i := range p.slope {
		p.slope[i] = slope
	}
	if !cpu.Fast || !p.rowsFast() {
		p.rowsGo(slope)
	}
	if p.inRange() {
		return true
	}
	for r := range rows {
		y := p.Y[r*p.YStride:][:16]
		for h, x := range p.X[r*p.XStride:][:8] {
			p.mark(x, &y[h], &y[8+h])
		}
	}
	return false
}

// mark makes the exponentials of an element that is out of range NaN.
func (p *NodeExps) mark(x Float, up, down *Float) {
	if !(x >= -inRange && x <= inRange) {
		*up = Float(math.NaN())
		*down = *up
	}
}

// Column sets rows of four elements of Y, for one head, whose parts stand next to
// each other in X. It reports what Rows does:
//
//	Y[r] = [X[r] exp(X[r]) exp(slope·X[r]) 0]
func (p *NodeExps) Column(rows int, slope Float) (ok bool) {
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
	rest := NodeExps{X: x[:], Y: y[:], slope: p.slope}
	ok = rest.column(8) && ok
	copy(p.Y[4*whole:4*rows], y[:])
	return ok
}

// column is Column of a number of rows that is a multiple of eight.
func (p *NodeExps) column(rows int) (ok bool) {
	if rows == 0 {
		return true
	}
	p.rows = rows
	_, _ = p.X[:rows], p.Y[:4*rows]
	if !cpu.Fast || !p.columnFast() {
		p.columnGo()
	}
	if p.inRange() {
		return true
	}
	for r, x := range p.X[:rows] {
		p.mark(x, &p.Y[4*r+1], &p.Y[4*r+2])
	}
	return false
}

func (p *NodeExps) columnGo() {
	clear(p.most[:])
	for r, v := range p.X[:p.rows] {
		up, down := Float(math.Exp(float64(v))), Float(math.Exp(float64(p.slope[0]*v)))
		copy(p.Y[4*r:], []Float{v, up, down, 0})
		p.most[r%8] = max(p.most[r%8], v, -v)
	}
}

// inRange reports whether all elements seen are in range.
func (p *NodeExps) inRange() bool {
	for _, m := range p.most {
		if !(m <= inRange) {
			return false
		}
	}
	return true
}

func (p *NodeExps) rowsGo(slope Float) {
	clear(p.most[:])
	for r := range p.rows {
		x, y := p.X[r*p.XStride:][:8], p.Y[r*p.YStride:]
		for h, v := range x {
			y[h], y[8+h] = Float(math.Exp(float64(v))), Float(math.Exp(float64(slope*v)))
			p.most[h] = max(p.most[h], v, -v)
		}
	}
}
