//go:build !noasm && !f64

package spmm

import (
	"unsafe"

	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
)

// layout is how the columns of a row fall to calls: runs of tiles, each of a
// head's columns or of all.
type layout struct {
	kernel
	tiles
	runs int
	head int // columns that have a weight in common; 0: no weights
	y, x int // elements from a run's columns to the next one's
}

// calls returns how many calls a piece takes.
func (l *layout) calls() int { return l.runs * l.count() }

// layout returns the layout of the sum's rows.
func (p *RowSum) layout() layout {
	l := layout{kernel: sumPlain, tiles: tiles{width: p.F, most: 8}, runs: 1}
	if p.Heads == 0 {
		if !p.Mean {
			l.wide = 16
		}
		return l
	}
	if p.Apart > 0 {
		l.kernel, l.runs, l.head, l.y = sumScalar, p.Heads, p.F, p.Apart
		return l
	}
	l.head = p.F / p.Heads
	switch {
	case p.Heads == 1:
		l.kernel = sumScalar
	case l.head == 1:
		l.kernel = sumFull
	case l.head == 8:
		l.kernel = sumHeads8
	case l.head == 16:
		l.kernel = sumHeads16
	case l.head == 32:
		l.kernel = sumHeads32
	default:
		l.kernel, l.runs, l.width, l.y, l.x = sumScalar, p.Heads, l.head, l.head, l.head
	}
	return l
}

// each makes the calls of a piece: out and arg are the rows of the result, w
// the weights. Where c.stream is set it stays so for tiles of whole lines.
func (l *layout) each(c *rowCall, p *piece, g *Gather, y, w []Float, arg []int32) {
	first, stream, step := p.row, c.stream, int(c.outs/floatSize)
	if l.kernel == wonPlain { // Arg is by the rows of X
		first = 0
	}
	for run := range l.runs {
		for j := 0; j < l.width; {
			shape, n := l.at(j)
			c.out, c.x, c.shape, c.left = &y[p.row*step+run*l.y+j], &g.X[run*l.x+j], shape, n%8
			if arg != nil {
				c.arg = &arg[first*step+j]
			}
			if c.stream = stream; !c.wholeLines(n) {
				c.stream = 0
			}
			if l.head > 0 {
				c.w = &w[run+j/l.head]
			}
			l.run(c, p.rows)
			j += n
		}
	}
}

// quadsMost is the widest row from far away for registers of sixteen lanes: wider ones, in several
// walks, ask for more than is brought.
const quadsMost = 128

// addFast is AddRows in assembly.
func (p *RowSum) addFast(lo, hi int) bool {
	l := p.layout()
	if cpu.AVX512 && p.Heads <= 1 && p.stride() == p.Heads && !p.Mean && p.F%16 == 0 && (p.F <= quadsMost || !p.Far) {
		l.kernel, l.wide = [...]kernel{sumPlainQuads, sumQuads}[p.Heads], 16
	}
	walks := l.calls()
	if p.Far { // a short piece would begin without what it fetches ahead
		walks = l.runs
	}
	for at := p.first(lo); p.next(&at, hi, p.most(walks)); {
		if at.from == at.to {
			p.clear(&at)
			continue
		}
		set := p.Set && p.whole(&at)
		ends := p.Mean && p.Offsets[at.row+at.rows] == at.to
		c := p.call(&at)
		if set {
			c.set, c.stream = 1, one(p.Stream)
		}
		if ends && set {
			c.mean = 1
		}
		c.weights, c.edges = uintptr(p.stride())*floatSize, unsafe.SliceData(p.Edges)
		c.far, c.outs = p.far(p.W), uintptr(p.step())*floatSize
		l.each(&c, &at, &p.Gather, p.Y, p.W, nil)
		if ends && !set { // the end of a row that was cut
			y := p.Y[at.row*p.step() : at.row*p.step()+p.F]
			Rows(p.F).DivideRanges(y, y, p.Offsets[at.row:at.row+2])
		}
	}
	return true
}

// far is the call's, of some weights.
func (g *Gather) far(w []Float) int {
	if g.Far && len(w) >= largeWeights {
		return 2
	}
	return one(g.Far)
}

// largeWeights is the length of weights that exceed the caches.
const largeWeights = 1 << 22

// setFast is SetRows in assembly.
func (p *RowBest) setFast(lo, hi int) bool {
	plain, short := maxPlain, maxQuick
	if p.Min {
		plain, short = minPlain, minQuick
	}
	l := layout{kernel: plain, tiles: tiles{width: p.F, most: 4}, runs: 1}
	quick := layout{kernel: short, tiles: tiles{width: p.F, most: 8}, runs: 1}
	pairs := p.F%(2*8) == 0 // for which there is a kernel that takes numbers only
	calls := l.calls()
	if pairs {
		calls = quick.calls()
	}
	for at := p.first(lo); p.next(&at, hi, p.most(calls)); {
		if at.from == at.to {
			continue
		}
		whole := p.whole(&at)
		c := p.call(&at)
		c.outs = uintptr(p.step()) * floatSize
		if pairs && whole {
			c.stream = one(p.Stream)
			if quick.each(&c, &at, &p.Gather, p.Y, nil, p.Arg); c.unordered == 0 {
				continue
			}
		}
		c.stream = 0
		l.each(&c, &at, &p.Gather, p.Y, nil, p.Arg)
	}
	return true
}

// addFast is AddRows in assembly.
func (p *RowWon) addFast(lo, hi int) bool {
	l := layout{kernel: wonPlain, tiles: tiles{width: p.F, most: 8}, runs: 1}
	for at := p.first(lo); p.next(&at, hi, p.most(2*l.calls())); {
		if at.from == at.to {
			continue
		}
		c := p.call(&at)
		c.edges = unsafe.SliceData(p.Edges)
		l.each(&c, &at, &p.Gather, p.Y, nil, p.Arg)
	}
	return true
}
