package dense

import (
	"slices"
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/spoil"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BiasThen adds a bias to each row, and then applies a function, or an ELU and a dropout:
//
//	for i := range rows {
//		y[i,j] = F(x[i,j] + B[j])
//	}
//
// A row has as many elements as B.
type BiasThen struct {
	B    []tensor.Float
	F    vec.Unary
	On   bool         // F is applied
	Drop *vec.Dropout // ELU and this dropout are, in place of F; nil: they are not
}

// BiasGrads are the gradients that a BiasThen adds to, nil where not wanted.
type BiasGrads struct {
	X, B []tensor.Float
	SetX bool // X holds anything, and is set
}

// Forward sets y, which may be x.
func (k BiasThen) Forward(y, x []tensor.Float) {
	p := biasPass{of: k, in: x, out: y}
	switch n := len(x); {
	case n == 0:
	case n == len(k.B):
		p.row()
	default:
		p.run()
	}
}

// Backward adds to the gradients, given the result y and its gradient. y is not read
// where nothing comes after the bias.
func (k BiasThen) Backward(to BiasGrads, y, dy []tensor.Float) {
	p := biasPass{of: k, in: dy, out: to.X, y: y, db: to.B, set: to.SetX, back: true}
	switch n := len(dy); {
	case n == 0:
	case n == len(k.B) && (p.set || !k.more()):
		p.pullRow()
	default:
		p.run()
	}
}

// more reports whether anything comes after the bias.
func (k *BiasThen) more() bool { return k.On || k.Drop != nil }

// slope sets dz to the gradient of what the bias was added to, from that of the
// result y.
func (k *BiasThen) slope(dz, dy, y []tensor.Float) {
	if k.Drop != nil {
		k.Drop.ELUGrad(dz, dy, y)
	} else {
		k.F.SetBackward(dz, dy, y, y, 1)
	}
}

// biasPass is a BiasThen in parts of rows, which follow from the shape alone. Rows are
// taken in blocks of about biasBlock elements, so that narrow ones cost no more than
// wide ones.
type biasPass struct {
	of         BiasThen
	in, out, y []tensor.Float // x to y; backwards dy to dx, which is nil if not wanted
	db         []tensor.Float
	back, set  bool

	block int            // elements
	step  int            // elements of a part: whole blocks
	wide  []tensor.Float // a block of copies of B
	sums  []tensor.Float // a db for each part
}

const (
	biasBlock = 1 << 9
	biasPart  = 1 << 13 // elements, some microseconds
	biasMost  = 32      // parts that have a sum each
	biasFree  = 4 * biasMost
)

var biasPasses = sync.Pool{New: func() any { return new(biasPass) }}

// run does all parts.
func (p *biasPass) run() {
	t := biasPasses.Get().(*biasPass)
	p.wide, p.sums = t.wide, t.sums
	*t = *p
	n, width := len(t.in), len(t.of.B)
	t.block = width * max(1, min(biasBlock, n)/width)
	most := biasMost
	if t.db == nil {
		most = biasFree
	}
	t.step = (max(biasPart, n/most)/t.block + 1) * t.block
	parts := (n-1)/t.step + 1
	if t.back {
		t.sums = slices.Grow(t.sums[:0], parts*width)[:parts*width]
		spoil.Floats(t.sums)
	} else if t.of.Drop == nil {
		t.wide = slices.Grow(t.wide[:0], t.block)[:t.block]
		for at := 0; at < t.block; at += width {
			copy(t.wide[at:], t.of.B)
		}
	}
	par.Run(parts, t)
	for at := 0; t.db != nil && at < parts*width; at += width {
		addTo(t.db, t.sums[at:at+width])
	}
	*t = biasPass{wide: t.wide, sums: t.sums}
	biasPasses.Put(t)
}

// row does the only row.
func (p *biasPass) row() {
	if p.of.Drop != nil {
		p.of.Drop.ELU(p.out, p.in, p.of.B, 0)
		return
	}
	vec.Add.Forward(p.out, p.in, p.of.B, 1, 1)
	if p.of.On {
		p.of.F.Forward(p.out, p.out, 1)
	}
}

// pullRow adds the gradients of the only row, where that needs no memory.
func (p *biasPass) pullRow() {
	dz := p.in
	switch {
	case p.of.more():
		dz = p.out
		p.of.slope(dz, p.in, p.y)
	case p.set:
		copy(p.out, dz)
	case p.out != nil:
		addTo(p.out, dz)
	}
	if p.db != nil {
		addTo(p.db, dz)
	}
}

// Chunk does one part.
func (p *biasPass) Chunk(i int) {
	end := min((i+1)*p.step, len(p.in))
	if p.back {
		p.pull(i, part{i * p.step, end})
		return
	}
	for lo := i * p.step; lo < end; lo += p.block {
		hi := min(lo+p.block, end)
		to := p.out[lo:hi]
		if p.of.Drop != nil {
			p.of.Drop.ELU(to, p.in[lo:hi], p.of.B, lo/len(p.of.B))
			continue
		}
		vec.Add.Forward(to, p.in[lo:hi], p.wide[:hi-lo], 1, 1)
		if p.of.On {
			p.of.F.Forward(to, to, 1)
		}
	}
}

// pull adds the gradients of some elements, which are part i.
func (p *biasPass) pull(i int, of part) {
	room := scratch.Borrow(2 * p.block)
	sum := (*room)[p.block:]
	clear(sum)
	for lo := of.lo; lo < of.hi; lo += p.block {
		hi := min(lo+p.block, of.hi)
		dz := p.in[lo:hi]
		if p.of.more() {
			if dz = (*room)[:hi-lo]; p.set {
				dz = p.out[lo:hi]
			}
			p.of.slope(dz, p.in[lo:hi], p.y[lo:hi])
		}
		switch {
		case p.out == nil || p.of.more() && p.set:
		case p.set:
			copy(p.out[lo:hi], dz)
		default:
			addTo(p.out[lo:hi], dz)
		}
		if p.db != nil {
			addTo(sum[:hi-lo], dz)
		}
	}
	if p.db != nil {
		width := len(p.of.B)
		to := p.sums[i*width : (i+1)*width]
		clear(to)
		for at := 0; at < p.block; at += width {
			addTo(to, sum[at:at+width])
		}
	}
	scratch.Repay(room)
}
