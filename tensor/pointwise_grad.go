package tensor

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
)

// CombineGradX adds to dx the gradient of the first operand of z = f(x, y) with
// broadcasting, where dz is that of z. What an element of x was stretched over
// is summed: along a run by partial sums, and a long sum in parts, which are cut
// by the shapes alone and added in order. dx has x's shape and must not overlap
// the others.
func CombineGradX(dx, dz, x, y *Dense, f Binary) { combineGrad(dx, dz, x, y, vec.Binary(f), false) }

// CombineGradY is [CombineGradX] of the second operand.
func CombineGradY(dy, dz, x, y *Dense, f Binary) { combineGrad(dy, dz, x, y, vec.Binary(f), true) }

func combineGrad(d, dz, x, y *Dense, f vec.Binary, second bool) {
	operand := x
	if second {
		operand = y
	}
	if !broadcasts(dz.Shape(), x.Shape(), y.Shape()) || !slices.Equal(d.Shape(), operand.Shape()) {
		panic(Mismatch("tensor."+f.String(), x, y, dz, d))
	}
	for _, o := range [...]*Dense{dz, x, y} {
		apart(f.String(), d, o)
	}
	c := combination{f: f, z: dz.Data, x: x.Data, y: y.Data, d: d.Data, second: second, Pairing: Pair(x.Shape(), y.Shape(), dz.Shape())}
	c.cut()
	c.gradient()
}

// gradient runs the loop that suits how the operand is stretched.
func (c *combination) gradient() {
	step, strides := c.SX, c.Pairing.x
	if c.second {
		step, strides = c.SY, c.Pairing.y
	}
	whole := step == 1 || c.N == 1
	for _, s := range strides[:c.axes] {
		whole = whole && s != 0
	}
	last, pieces := c.axes-1, c.runs()*c.segments
	switch {
	case c.N == 0:
	case whole && alone(pieces, c.segment):
		c.backward(0, pieces)
	case whole: // every element has a place of its own
		combineJobs.run(*c, pieces, c.segment, (*combination).backward)
	case c.axes > 0 && strides[last] != 0 && c.dims[last] > 1: // so have the runs of each outermost index
		combineJobs.run(*c, c.dims[last], len(c.z)/c.dims[last], (*combination).outermost)
	default:
		c.sum()
	}
}

// outermost adds the gradients of the runs of outermost indices lo to hi,
// without hi.
func (c *combination) outermost(lo, hi int) {
	inner := c.runs() / c.dims[c.axes-1]
	c.backward(lo*inner*c.segments, hi*inner*c.segments)
}

// backward adds the gradients of pieces lo to hi, without hi.
func (c *combination) backward(lo, hi int) {
	w := c.from(lo / c.segments)
	for i := lo; i < hi; i++ {
		at := i % c.segments * c.segment
		if at == 0 && i > lo {
			w.next(&c.Pairing)
		}
		c.piece(c.d, w, at)
	}
}

// piece adds the gradient of the segment of a run that begins at an element to
// d.
func (c *combination) piece(d []Float, w walk, at int) {
	n := min(c.segment, c.N-at)
	dz, x, y := c.z[w.z+at:w.z+at+n], c.x[w.x+at*c.SX:], c.y[w.y+at*c.SY:]
	switch {
	case c.second && c.SY == 0 && n > 1:
		d[w.y] += c.total(dz, x, y)
	case c.second:
		c.f.BackwardY(d[w.y+at*c.SY:], dz, x, y, c.SX, c.SY)
	case c.SX == 0 && n > 1:
		d[w.x] += c.total(dz, x, y)
	default:
		c.f.BackwardX(d[w.x+at*c.SX:], dz, x, y, c.SX, c.SY)
	}
}

// total is the gradient of an operand that stands for a whole run.
func (c *combination) total(dz, x, y []Float) Float {
	n := len(dz)
	switch {
	case c.f == vec.Add || c.f == vec.Sub && !c.second:
		return vec.Sum(dz)
	case c.f == vec.Sub:
		return -vec.Sum(dz)
	case c.f == vec.Mul && !c.second && c.SY == 1:
		return vec.Dot(dz, y[:n])
	case c.f == vec.Mul && c.second && c.SX == 1:
		return vec.Dot(dz, x[:n])
	}
	return c.termwise(dz, x, y)
}

// termwise is total by way of its terms, some at a time.
func (c *combination) termwise(dz, x, y []Float) (sum Float) {
	var terms, same [256]Float
	v := x[0]
	if c.second {
		v = y[0]
	}
	for i := range same {
		same[i] = v
	}
	for at := 0; at < len(dz); at += len(terms) {
		n := min(len(terms), len(dz)-at)
		clear(terms[:n])
		if c.second {
			c.f.BackwardY(terms[:n], dz[at:at+n], x[at*c.SX:], same[:n], c.SX, 1)
		} else {
			c.f.BackwardX(terms[:n], dz[at:at+n], same[:n], y[at*c.SY:], 1, c.SY)
		}
		sum += vec.Sum(terms[:n])
	}
	return sum
}

// sum adds the gradient of an operand that is stretched along the outermost
// axis. Each of some parts of the runs has sums of its own.
func (c *combination) sum() {
	units := c.runs() * c.segments
	c.parts = partsOf(units, c.segment)
	if most := len(c.z) / max(1, len(c.d)) / 4; c.parts > most { // the sums themselves are work
		c.parts = max(1, most)
	}
	if c.parts == 1 {
		c.backward(0, units)
		return
	}
	private, lent := lend((c.parts - 1) * len(c.d))
	c.private = private
	combineJobs.run(*c, c.parts, share, (*combination).part)
	for i := range c.parts - 1 {
		vec.Axpy(c.d, 1, c.private[i*len(c.d):(i+1)*len(c.d)])
	}
	floats.Put(lent)
}

// part adds the gradients of parts of the runs: of the first to the gradient
// itself, of each other to sums of its own.
func (c *combination) part(lo, hi int) {
	units := c.runs() * c.segments
	for p := lo; p < hi; p++ {
		mine := *c
		if p > 0 {
			mine.d = c.private[(p-1)*len(c.d) : p*len(c.d)]
			clear(mine.d)
		}
		mine.backward(p*units/c.parts, (p+1)*units/c.parts)
	}
}
