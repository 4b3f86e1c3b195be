//go:build !noasm && !f64

package spmm

import "github.com/edgewise-ml/edgewise/internal/simd/cpu"

// addFast is AddRows in assembly.
func (p *EdgeDot) addFast(lo, hi int) bool {
	d, _, _ := p.heads()
	four, eight := dotOne, dotOne
	switch {
	case p.Apart > 0 && d%8 == 0:
		four = dotApart4
	case p.Apart > 0:
	case d == 8:
		four, eight = dot4x8, dot8x8
	case d == 16:
		four, eight = dot4x16, dot8x16
	case d == 32:
		four, eight = dot4x32, dot8x32
	}
	walks := 2
	if p.Heads == 1 && d <= 64 || p.Apart == 0 && d <= 32 && d%8 == 0 && (p.Heads == 4 || p.Heads == 8) {
		walks = 1
	}
	in4s := p.Heads%4 == 0 && four != dotOne
	for at := p.first(lo); p.next(&at, hi, p.most(walks)); {
		if at.from == at.to {
			continue
		}
		c := p.call(&at)
		c.weights, c.apart = uintptr(p.Heads)*floatSize, uintptr(p.Apart)*floatSize
		switch {
		case p.Set && in4s:
			c.set, c.stream = 1, one(p.Stream && p.Heads == 8 && cpu.Aligned(p.Z, p.Heads, 8))
		case p.Set:
			clear(p.Z[int(at.from)*p.Heads : int(at.to)*p.Heads])
		}
		for h := 0; h < p.Heads; {
			switch rest := p.Heads - h; {
			case eight != dotOne && rest >= 8:
				p.dots(&c, &at, eight, h, 0)
				h += 8
			case four != dotOne && rest >= 4:
				c.shape = d / 8
				p.dots(&c, &at, four, h, 0)
				h += 4
			default:
				p.dot(&c, &at, h)
				h++
			}
		}
	}
	return true
}

// dots makes the call of several heads, from column col of head h on.
func (p *EdgeDot) dots(c *rowCall, at *piece, k kernel, h, col int) {
	_, y, x := p.heads()
	c.out, c.x, c.w = &p.Y[at.row*p.F+h*y+col], &p.X[h*x+col], &p.Z[h]
	k.run(c, at.rows)
}

// dot makes the calls of one head.
func (p *EdgeDot) dot(c *rowCall, at *piece, h int) {
	width, _, _ := p.heads()
	t := tiles{width: width, most: 8}
	for j := 0; j < t.width; {
		shape, n := t.at(j)
		c.shape, c.left = shape, n%8
		p.dots(c, at, dotOne, h, j)
		j += n
	}
}
