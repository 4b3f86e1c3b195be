package dense

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd/attend"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// PerHead multiplies the heads of each row with those of one row, or with those of two
// in one pass over X:
//
//	for i := range Rows {
//		for h := range Heads {
//			W[i,h] = ⟨X[i,h,:], Y[h,:]⟩
//		}
//	}
type PerHead struct {
	X                  []tensor.Float
	Rows, Heads, Width int
	With               [2]HeadRow // the second may have no Y
}

// HeadRow is a row that all rows of X are multiplied with, and the products or, in
// Backward, their gradients.
type HeadRow struct{ Y, W []tensor.Float }

// HeadGrads are the gradients that Backward adds to, nil where not wanted.
type HeadGrads struct {
	X     []tensor.Float
	Y     [2][]tensor.Float
	Apart bool // no two of them have elements in common; else one thread adds to them
}

// Forward sets the products. How a head is summed follows from its width alone, so that a row
// has the same products beside any others.
func (k *PerHead) Forward() {
	t := headPass{of: *k}
	t.run()
}

// Backward adds to the gradients, with scratch of Room elements for each Y that wants one:
//
//	dX[i,h,:] += W[i,h]·Y[h,:]
//	dY[h,:]   += Σ_i W[i,h]·X[i,h,:]
func (k *PerHead) Backward(to *HeadGrads, buf []tensor.Float) {
	var own [2][]tensor.Float
	if room := k.Room(); room > 0 {
		for j, dy := range to.Y {
			if dy != nil {
				own[j], buf = buf[:room], buf[room:]
			}
		}
	}
	if k.few() {
		k.each(to)
	} else {
		t := headPass{of: *k, to: *to, back: true, private: own}
		t.run()
	}
	for j, private := range own {
		dy := to.Y[j]
		for rest := private; len(rest) > 0; rest = rest[len(dy):] {
			addTo(dy, rest[:len(dy)])
		}
	}
}

// A part is about headWork elements, and no more than headMost parts are made.
// It is done in blocks that stay in the first cache.
const (
	headWork  = 1 << 13
	headMost  = 16
	headFree  = 8 * headMost // of products alone, which nothing is summed over
	headBlock = 1 << 11
)

// parts is the number of parts of the rows, at most so many; it follows from the shape.
func (k *PerHead) parts(most int) int { return max(1, min(len(k.X)/headWork, most, k.Rows)) }

// Room is how much scratch the gradient of a row takes.
func (k *PerHead) Room() int { return (k.parts(headMost) - 1) * k.Heads * k.Width }

// headPass is a PerHead or its gradients, in parts of rows.
type headPass struct {
	of      PerHead
	to      HeadGrads
	back    bool
	step    int
	private [2][]tensor.Float // the first part adds to to.Y, the others to these
}

var headPasses = sync.Pool{New: func() any { return new(headPass) }}

// run does all parts.
func (t *headPass) run() {
	k := &t.of
	parts := k.parts(headFree)
	if t.back {
		parts = k.parts(headMost)
	}
	t.step = (k.Rows + parts - 1) / parts
	if parts == 1 || t.back && !t.to.Apart {
		for i := range parts {
			t.Chunk(i)
		}
		return
	}
	p := headPasses.Get().(*headPass)
	*p = *t
	par.Run(parts, p)
	*p = headPass{}
	headPasses.Put(p)
}

// headFew is how many heads cost less one by one than a block of them does. Only gradients are
// taken so: the bits differ.
const headFew = 8

func (k *PerHead) few() bool { return k.Rows*k.Heads <= headFew }

// headWide is how wide a head is that is multiplied by itself, however many there are: a block
// of such takes as long.
const headWide = 1 << 7

// dots sets the products of some rows with row j, head by head.
func (k *PerHead) dots(j int, rows part) {
	p, d := &k.With[j], k.Width
	for i := rows.lo * k.Heads; i < rows.hi*k.Heads; i++ {
		at := i % k.Heads * d
		p.W[i] = vec.Dot(k.X[i*d:i*d+d], p.Y[at:at+d])
	}
}

// each does the gradients of all heads one by one.
func (k *PerHead) each(to *HeadGrads) {
	d := k.Width
	for i := range k.Rows * k.Heads {
		x, at := part{i * d, i*d + d}, i%k.Heads*d
		y := part{at, at + d}
		for j := range k.With {
			p := &k.With[j]
			if p.Y == nil {
				continue
			}
			head, row := k.X[x.lo:x.hi], p.Y[y.lo:y.hi]
			if to.X != nil {
				vec.Axpy(to.X[x.lo:x.hi], p.W[i], row)
			}
			if dy := to.Y[j]; dy != nil {
				vec.Axpy(dy[y.lo:y.hi], p.W[i], head)
			}
		}
	}
}

// Chunk does one part, block by block.
func (t *headPass) Chunk(i int) {
	f := t.of.Heads * t.of.Width
	end, most := min((i+1)*t.step, t.of.Rows), max(1, headBlock/f)
	for lo := i * t.step; lo < end; lo += most {
		n := min(most, end-lo)
		if t.paired() {
			t.pair(i, lo, n)
			continue
		}
		for j := range t.of.With {
			if t.of.With[j].Y != nil {
				t.block(j, i, part{lo, lo + n})
			}
		}
	}
}

// paired reports whether there are two rows, and all that their pass can give is
// wanted.
func (t *headPass) paired() bool {
	if !t.back {
		return t.of.With[1].Y != nil && t.of.Width < headWide
	}
	return t.of.With[1].Y != nil && t.to.Apart && t.to.X != nil && t.to.Y[0] != nil && t.to.Y[1] != nil
}

// pair does n rows from lo on, of part i, with both rows at once. The second of
// the gradients is that of the first product, as Dot's would run.
func (t *headPass) pair(i, lo, n int) {
	h := t.of.Heads
	f := h * t.of.Width
	b, a := &t.of.With[0], &t.of.With[1]
	k := attend.DotPair{
		X: t.of.X[lo*f:], A: a.Y, B: b.Y, L: a.W[lo*h:], R: b.W[lo*h:],
		H: h, Width: t.of.Width,
	}
	if !t.back {
		k.Pairs(n)
		return
	}
	k.Grad(attend.DotPairGrads{X: t.to.X[lo*f:], A: t.sums(1, i), B: t.sums(0, i)}, n)
}

// sums is what part i adds its gradient of row j to.
func (t *headPass) sums(j, i int) []tensor.Float {
	if i == 0 {
		return t.to.Y[j]
	}
	f := len(t.to.Y[j])
	return t.private[j][(i-1)*f : i*f]
}

// block does some rows of X, of part i, with row j.
func (t *headPass) block(j, i int, rows part) {
	p, h, n := &t.of.With[j], t.of.Heads, rows.hi-rows.lo
	f := h * t.of.Width
	x, w := t.of.X[rows.lo*f:], p.W[rows.lo*h:]
	k := attend.Heads{WStride: h, Width: t.of.Width, H: h, W: w}
	switch {
	case !t.back && t.of.Width >= headWide:
		t.of.dots(j, rows)
		return
	case !t.back:
		k.X, k.Y, k.XStride = x, p.Y, f
		k.Pairs(n)
		return
	}
	if t.to.X != nil {
		k.X, k.Y, k.YStride = p.Y, t.to.X[rows.lo*f:], f
		k.Spread(n)
	}
	if t.to.Y[j] != nil {
		k.X, k.Y, k.XStride, k.YStride = x, t.sums(j, i), f, 0
		k.Fold(n)
	}
}
