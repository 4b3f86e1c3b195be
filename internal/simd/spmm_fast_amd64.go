//go:build !noasm && !f64

package simd

import "unsafe"

// rowCall is what a kernel reads; the generator knows where its fields are.
type rowCall struct {
	out, x, w   *Float // at the tile's first column; out in the first row
	offsets     *int64 // of the first row
	cols, edges *int32
	arg         *int32 // as out
	from, to    int64
	end         int64 // the last nonzero of all
	rows        int
	stride      uintptr // of X's rows, in bytes as the others
	weights     uintptr // of W's rows
	outs        uintptr // of out's rows
	shape       int     // twice the tile's registers, and one if the last is cut
	left        int     // columns in a register that is cut
	far         int     // 1: fetch ahead
	done        uintptr // bytes of Arg's rows that are done, which the kernel counts
}

const floatSize = unsafe.Sizeof(Float(0))

// tiles is how the columns of a row are cut into tiles of registers.
type tiles struct {
	width int // columns of a run of tiles: a row, or a head
	whole int // registers of a tile that is not cut, at most
	cut   int // and of one that is
}

// at returns the shape of the tile at column j, and how many columns it has.
func (t tiles) at(j int) (shape, n int) {
	n = min(t.width-j, 8*t.whole)
	switch rest := n % 8; {
	case rest == 0:
		return n / 8 * 2, n
	case n < 8*t.cut:
		return n/8*2 + 3, n
	default: // what is cut off is a tile of its own
		return n / 8 * 2, n - rest
	}
}

// most returns how many nonzeros a piece has: where its rows are walked several
// times, no more than stay in the first cache.
func (g *Gather) most(walks int) int64 {
	if walks > 1 {
		return max(16, firstCache/int64(g.F))
	}
	return max(16, pieceWork/int64(g.F))
}

// firstCache is the elements that stay in the first cache.
const firstCache = 6 << 10

// call returns the call of a piece, at column 0.
func (g *Gather) call(p *piece) rowCall {
	c := rowCall{
		x: unsafe.SliceData(g.X), offsets: &g.Offsets[p.row], cols: unsafe.SliceData(g.Cols),
		from: p.from, to: p.to, end: int64(len(g.Cols)) - 1, rows: p.rows,
		stride: uintptr(g.F) * floatSize, outs: uintptr(g.F) * floatSize,
	}
	if g.Far {
		c.far = 1
	}
	return c
}

// kernel is a function in assembly.
type kernel uint8

const (
	sumPlain kernel = iota
	sumScalar
	sumFull
	sumHeads8
	sumHeads16
	sumHeads32
	maxPlain
	maxScalar
	maxFull
	maxHeads8
	maxHeads16
	maxHeads32
	minPlain
	minScalar
	minFull
	minHeads8
	minHeads16
	minHeads32
	wonPlain
	wonScalar
	wonFull
	dotOne
	dot4x8
	dot4x16
	dot4x32
	dot8x8
	dot8x16
	dot8x32
	pairAdd
	pairSub
	pairMul
	pairDiv
	pairCopy
)

// run calls the function. Through a variable the call would escape.
func (k kernel) run(c *rowCall, rows int) {
	c.rows, c.done = rows, 0
	p := (*byte)(unsafe.Pointer(c))
	switch k {
	case sumPlain:
		rowSumAVX2(p)
	case sumScalar:
		rowSumScalarAVX2(p)
	case sumHeads8:
		rowSumHeads8AVX2(p)
	case sumHeads16:
		rowSumHeads16AVX2(p)
	case sumHeads32:
		rowSumHeads32AVX2(p)
	case sumFull:
		rowSumFullAVX2(p)
	case maxPlain:
		rowMaxAVX2(p)
	case maxScalar:
		rowMaxScalarAVX2(p)
	case maxFull:
		rowMaxFullAVX2(p)
	case maxHeads8:
		rowMaxHeads8AVX2(p)
	case maxHeads16:
		rowMaxHeads16AVX2(p)
	case maxHeads32:
		rowMaxHeads32AVX2(p)
	case minPlain:
		rowMinAVX2(p)
	case minScalar:
		rowMinScalarAVX2(p)
	case minFull:
		rowMinFullAVX2(p)
	case minHeads8:
		rowMinHeads8AVX2(p)
	case minHeads16:
		rowMinHeads16AVX2(p)
	case minHeads32:
		rowMinHeads32AVX2(p)
	case wonPlain:
		rowWonAVX2(p)
	case wonScalar:
		rowWonScalarAVX2(p)
	case wonFull:
		rowWonFullAVX2(p)
	case dotOne:
		edgeDotAVX2(p)
	case dot4x8:
		edgeDot4x8AVX2(p)
	case dot4x16:
		edgeDot4x16AVX2(p)
	case dot4x32:
		edgeDot4x32AVX2(p)
	case dot8x8:
		edgeDot8x8AVX2(p)
	case dot8x16:
		edgeDot8x16AVX2(p)
	case dot8x32:
		edgeDot8x32AVX2(p)
	case pairAdd:
		edgeAddAVX2(p)
	case pairSub:
		edgeSubAVX2(p)
	case pairMul:
		edgeMulAVX2(p)
	case pairDiv:
		edgeDivAVX2(p)
	case pairCopy:
		edgeCopyAVX2(p)
	}
}

// layout is how the columns of a row fall to calls: runs of tiles, each of a
// head's columns or of all.
type layout struct {
	kernel
	tiles
	runs int
	head int // columns that have a weight in common; 0: no weights
}

// calls returns how many calls a piece takes.
func (l *layout) calls() int { return l.runs * ((l.width-1)/(8*l.whole) + 1) }

// layoutOf returns the layout of weighted rows. plain is the kernel without
// weights; after it come those with a scalar, with full rows and, if they exist,
// with heads of 8, 16 and 32.
func layoutOf(plain kernel, heads bool, f, h int, t tiles) layout {
	l := layout{kernel: plain, tiles: t, runs: 1}
	l.width = f
	if h == 0 {
		return l
	}
	l.head = f / h
	switch d := l.head; {
	case h == 1:
		l.kernel = plain + 1
	case d == 1:
		l.kernel = plain + 2
	case heads && d == 8:
		l.kernel = plain + 3
	case heads && d == 16:
		l.kernel = plain + 4
	case heads && d == 32:
		l.kernel = plain + 5
	default:
		l.kernel, l.runs, l.width = plain+1, h, d
	}
	return l
}

// each makes the calls of a piece: out and arg are the rows of the result, w
// the weights.
func (l *layout) each(c *rowCall, p *piece, g *Gather, y, w []Float, arg []int32) {
	first := p.row
	if l.kernel >= wonPlain { // Arg is by the rows of X
		first = 0
	}
	for run := range l.runs {
		for j := 0; j < l.width; {
			shape, n := l.at(j)
			col := run*l.width + j
			c.out, c.x, c.shape, c.left = &y[p.row*g.F+col], &g.X[col], shape, n%8
			if arg != nil {
				c.arg = &arg[first*g.F+col]
			}
			if l.head > 0 {
				c.w = &w[col/l.head]
			}
			l.run(c, p.rows)
			j += n
		}
	}
}

// addFast is AddRows in assembly.
func (p *RowSum) addFast(lo, hi int) {
	t := tiles{whole: 8, cut: 8}
	if p.Heads == 0 {
		t.whole, t.cut = 16, 14
	}
	l := layoutOf(sumPlain, true, p.F, p.Heads, t)
	for at := p.first(lo); p.next(&at, hi, p.most(l.calls())); {
		if at.from == at.to {
			continue
		}
		c := p.call(&at)
		c.weights, c.edges = uintptr(p.Heads)*floatSize, unsafe.SliceData(p.Edges)
		l.each(&c, &at, &p.Gather, p.Y, p.W, nil)
	}
}

// setFast is SetRows in assembly.
func (p *RowBest) setFast(lo, hi int) {
	plain := maxPlain
	if p.Min {
		plain = minPlain
	}
	l := layoutOf(plain, true, p.F, p.Heads, tiles{whole: 4, cut: 4})
	for at := p.first(lo); p.next(&at, hi, p.most(l.calls())); {
		if at.from == at.to {
			continue
		}
		c := p.call(&at)
		c.weights = uintptr(p.Heads) * floatSize
		l.each(&c, &at, &p.Gather, p.Y, p.W, p.Arg)
	}
}

// setFast is SetRows in assembly.
func (p *EdgePair) setFast(lo, hi int) {
	k, y := pairAdd+kernel(p.Op), p.Y
	if p.Copy {
		k = pairCopy
	}
	l := layout{kernel: k, tiles: tiles{width: p.F, whole: 8, cut: 8}}
	for at := p.first(lo); p.next(&at, hi, p.most(1)); {
		if at.from == at.to {
			continue
		}
		c := p.call(&at)
		c.weights = uintptr(p.F) * floatSize
		for j := 0; j < p.F; {
			shape, n := l.at(j)
			c.x, c.w, c.shape, c.left = &p.X[j], &p.Z[j], shape, n%8
			if !p.Copy {
				c.out = &y[at.row*p.F+j]
			}
			l.run(&c, at.rows)
			j += n
		}
	}
}

// addFast is AddRows in assembly.
func (p *EdgeDot) addFast(lo, hi int) {
	d := p.F / p.Heads
	four, eight := dotOne, dotOne
	switch d {
	case 8:
		four, eight = dot4x8, dot8x8
	case 16:
		four, eight = dot4x16, dot8x16
	case 32:
		four, eight = dot4x32, dot8x32
	}
	walks := 2
	if p.Heads == 1 && d <= 64 || d <= 32 && d%8 == 0 && (p.Heads == 4 || p.Heads == 8) {
		walks = 1
	}
	for at := p.first(lo); p.next(&at, hi, p.most(walks)); {
		if at.from == at.to {
			continue
		}
		c := p.call(&at)
		c.weights = uintptr(p.Heads) * floatSize
		for h := 0; h < p.Heads; {
			switch rest := p.Heads - h; {
			case eight != dotOne && rest >= 8:
				p.dots(&c, &at, eight, h*d)
				h += 8
			case four != dotOne && rest >= 4:
				p.dots(&c, &at, four, h*d)
				h += 4
			default:
				p.dot(&c, &at, h)
				h++
			}
		}
	}
}

// dots makes the call of several heads, from column col on.
func (p *EdgeDot) dots(c *rowCall, at *piece, k kernel, col int) {
	c.out, c.x, c.w = &p.Y[at.row*p.F+col], &p.X[col], &p.Z[col/(p.F/p.Heads)]
	k.run(c, at.rows)
}

// dot makes the calls of one head.
func (p *EdgeDot) dot(c *rowCall, at *piece, h int) {
	t := tiles{width: p.F / p.Heads, whole: 8, cut: 8}
	for j := 0; j < t.width; {
		shape, n := t.at(j)
		c.shape, c.left = shape, n%8
		p.dots(c, at, dotOne, h*t.width+j)
		j += n
	}
}

// pickFast is Pick in assembly.
func pickFast(toCols []int32, toW []Float, cols []int32, w []Float) int {
	return pickAVX2(&toCols[0], &toW[0], &cols[0], &w[0], len(cols))
}

// addFast is AddRows in assembly.
func (p *RowWon) addFast(lo, hi int) {
	l := layoutOf(wonPlain, false, p.F, p.Heads, tiles{whole: 8, cut: 8})
	for at := p.first(lo); p.next(&at, hi, p.most(2*l.calls())); {
		if at.from == at.to {
			continue
		}
		c := p.call(&at)
		c.weights, c.edges = uintptr(p.Heads)*floatSize, unsafe.SliceData(p.Edges)
		l.each(&c, &at, &p.Gather, p.Y, p.W, p.Arg)
	}
}

// addMeansFast is AddMeans in assembly, in calls that last some ten
// microseconds.
func addMeansFast(y, s []Float, offsets []int64, f int) {
	rows := len(offsets) - 1
	step := max(1, most/f)
	for i := 0; i < rows; i += step {
		meanAVX2(&y[i*f], &s[i*f], &offsets[i], min(step, rows-i), f)
	}
}

// pickEdgesFast is PickEdges in assembly.
func pickEdgesFast(toCols []int32, toW []Float, cols []int32, w []Float, edges []int32) int {
	return pickEdgesAVX2(&toCols[0], &toW[0], &cols[0], unsafe.SliceData(w), &edges[0], len(cols))
}
