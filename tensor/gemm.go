package tensor

import (
	"sync"

	simdgemm "github.com/edgewise-ml/edgewise/internal/simd/gemm"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/internal/spoil"
)

// The blocks of a product: a panel of kc×nr of b stays in the first cache, a
// block of a in the second.
const (
	kc = 512
	mc = 144
	nr = simdgemm.ProductPanel
)

// view is a matrix in an array: element (i, j) is data[i·rs + j·cs].
type view struct {
	data   []Float
	rs, cs int
}

// viewOf returns d as a matrix of its rows, or its transpose.
func viewOf(d *Dense, transposed bool) view {
	if transposed {
		return view{d.Data, 1, d.RowLen()}
	}
	return view{d.Data, d.RowLen(), 1}
}

// from returns the view that starts at (i, j), which may be past the end.
func (v view) from(i, j int) view {
	v.data = v.data[min(i*v.rs+j*v.cs, len(v.data)):]
	return v
}

// gemm is one product, of m×k and k×n: c += ab or, with set, c = ab and what
// then says. Rows of c are n apart.
type gemm struct {
	m, n, k int
	a       view
	b       view
	packed  []Float // b in panels of all k rows, if it came so
	c       []Float
	set     bool
	part    bool // of a product whose parts the threads compute
	then    Epilogue
	sums    []Float // of a part: b's rows are added to the first half of it, too; of the whole: to it; nil: not
}

// workspace is the memory in which a product packs its operands.
type workspace struct{ a, b, c, sums []Float }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// room returns n elements of *buf, whatever they are.
func room(buf *[]Float, n int) []Float {
	if cap(*buf) < n {
		*buf = make([]Float, n)
	}
	spoil.Floats((*buf)[:n])
	return (*buf)[:n]
}

// run computes the product.
func (g *gemm) run() { g.window(block{hi: g.m, right: g.n}) }

// window computes what lies in some rows and columns of the product: in all of them, except of a
// part.
func (g *gemm) window(in block) {
	switch {
	case g.m == 0 || g.n == 0:
		return
	case g.k == 0:
		if g.set {
			clear(g.c)
		}
		g.finish(in)
		return
	case g.packed != nil:
		in.kg, in.b, in.panel, in.ldb = g.k, g.packed, g.k*nr, nr
		g.rows(in)
		return
	case g.tiny():
		p := simdgemm.Product{A: g.a.data, RS: g.a.rs, CS: g.a.cs, B: g.b.data, LDB: g.b.rs, C: g.c, LDC: g.n, M: g.m, N: g.n, K: g.k, Set: g.set}
		p.MulAdd()
		g.sum(in, 0, g.k)
		g.finish(in)
		return
	case g.inPlace():
		g.sum(in, 0, g.k)
		in.kg, in.b, in.panel, in.ldb = g.k, g.b.data, nr, g.b.rs
		if g.m == 1 || g.n < 2*nr {
			in.panel = 0 // a row, or panels of which the kernel takes one at a time
		}
		g.rows(in)
		return
	}
	if g.b.cs != 1 && g.m > 3 && g.m < fewRows && !g.part { // up to three rows take eight panels at a time
		in.kg, in.own = g.k, true
		g.rows(in)
		return
	}
	if g.part && g.narrow() { // rows that are summed are read once
		for in.panel, in.ldb = nr, g.b.rs; in.k0 < g.k; in.k0 += sumMost {
			in.kg = min(sumMost, g.k-in.k0)
			g.sum(in, in.k0, in.k0+in.kg)
			in.b = g.b.from(in.k0, 0).data
			g.rows(in)
		}
		return
	}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	most := g.packedSteps()
	for in.first, in.ldb = in.left, nr; in.k0 < g.k; in.k0 += most {
		in.kg = min(most, g.k-in.k0)
		in.panel = in.kg * nr
		in.b = room(&w.b, panels(in.right-in.left)*in.panel)
		packAll(in.b, g.b.from(in.k0, in.left), in.kg, in.right-in.left)
		g.sum(in, in.k0, in.k0+in.kg)
		g.rows(in)
	}
}

// sum adds rows lo to hi of b, which have just been read or soon will be: first to
// each other, so that a long chain does not lose what is small. Of the windows below each
// other the first one does that for its columns.
func (g *gemm) sum(in block, lo, hi int) {
	if g.sums == nil || in.lo > 0 {
		return
	}
	total, few := g.sums[in.left:in.right], g.sums[g.n+in.left:g.n+in.right]
	for ; lo < hi; lo += sumMost {
		clear(few)
		end := min(lo+sumMost, hi)
		if len(few) == g.n {
			vec.AddRows(few, g.b.data[lo*g.n:end*g.n])
		} else {
			for i := lo; i < end; i++ {
				vec.Add.Forward(few, few, g.b.data[i*g.n+in.left:i*g.n+in.right], 1, 1)
			}
		}
		vec.AddRows(total, few)
	}
}

// sumMost is how many rows are added to each other.
const sumMost = 512

// tiny reports whether the product is less work than to plan it.
func (g *gemm) tiny() bool { return g.b.cs == 1 && g.m*g.n*g.k <= tinyWork }

// tinyWork is so few multiply-adds that they take less than a microsecond.
const tinyWork = 1 << 10

// inPlace reports whether b is read where it is: it lies as the kernel wants it, or is used too
// seldom to be moved. Panels pay for many rows of a, for a long k, and for rows of b that share
// the sets of a cache.
func (g *gemm) inPlace() bool {
	return g.b.cs == 1 && (g.m < 32 || g.b.rs <= 24 || !g.part && g.m < fewRows && g.b.rs%1024 != 0)
}

// narrow reports whether rows of b are a few whole panels that lie beside each other: what a
// long k reads of them once or twice is not packed.
func (g *gemm) narrow() bool { return g.b.cs == 1 && g.b.rs == g.n && g.n <= narrowMost && g.n%nr == 0 }

// narrowMost is how many columns that are.
const narrowMost = 4 * nr

// packedSteps is how many steps of k of b are packed at a time: 4 MiB, or a
// little where each thread packs its own.
func (g *gemm) packedSteps() int {
	if g.part {
		return max(kc/2, (1<<15)/g.n/(kc/2)*(kc/2))
	}
	return max(kc, (1<<20)/g.n/kc*kc)
}

// block is a part of a product: the rows [lo, hi) and columns [left, right) of c,
// and kg steps of k from k0, with the rows of b for them, ldb apart: in panels that are
// panel elements apart, or in place if panel is 0.
type block struct {
	lo, hi, left, right int
	k0, kg              int
	b                   []Float
	panel, ldb          int
	first               int  // column of b where that begins
	far                 bool // the second cache does not keep them
	own                 bool // whoever computes a part of it packs b for that
}

// tileLength cuts n into as few ranges as have at most so many, and returns how long
// they are: about the same, and a multiple of unit.
func tileLength(n, most, unit int) int {
	parts := (n + most - 1) / most
	return ((n+parts-1)/parts + unit - 1) / unit * unit
}

// strip computes a block. Blocks with other rows or columns can be computed
// meanwhile.
func (g *gemm) strip(w *workspace, blk block) {
	if blk.own {
		g.ownStrip(w, blk)
		return
	}
	rows, steps := g.cut(blk)
	for i := blk.lo; i < blk.hi; i += rows {
		part := blk
		part.lo, part.hi = i, min(i+rows, blk.hi)
		p := simdgemm.Product{LDC: g.n, M: part.hi - i}
		for l := 0; l < blk.kg; l += steps {
			p.K = min(steps, blk.kg-l)
			p.Set = g.set && blk.k0+l == 0
			g.operand(w, &p, i, blk.k0+l)
			g.mulPanels(&p, part, l)
		}
		if blk.k0+blk.kg == g.k {
			g.finish(part)
		}
	}
}

// ownColumns and ownSteps are how much of b is packed in one go by whoever uses it: the second
// cache keeps it.
const (
	ownColumns = tileColumns
	ownSteps   = 2048
)

// ownStrip is strip of a block whose part of b is packed as it goes: no thread waits for
// another's panels, nor reads them from its cache.
func (g *gemm) ownStrip(w *workspace, blk block) {
	steps := tileLength(blk.kg, ownSteps, 8)
	for left := blk.left; left < blk.right; left += ownColumns {
		for k0 := 0; k0 < blk.kg; k0 += steps {
			part := blk
			part.own, part.k0, part.kg = false, k0, min(steps, blk.kg-k0)
			part.left, part.right, part.first = left, min(left+ownColumns, blk.right), left
			part.panel, part.ldb = part.kg*nr, nr
			part.b = room(&w.b, panels(part.right-left)*part.panel)
			t := packTask{to: part.b, b: g.b.from(k0, left), k: part.kg, n: part.right - left}
			t.pack(0, part.kg)
			g.strip(w, part)
		}
	}
}

// lineSteps is how many steps of rows times a column are computed at a time: some twenty microseconds.
const lineSteps = 1 << 14

// cut returns how many rows and steps of k of a block are computed together.
func (g *gemm) cut(blk block) (rows, steps int) {
	most, steps := mc, tileLength(blk.kg, kc, 4)
	switch {
	case g.n == 1 && g.a.cs == 1:
		return blk.hi - blk.lo, lineSteps
	case g.grouped():
		most, steps = 512, tileLength(blk.kg, kc/2, 4) // whole rows of the transpose, as memory likes it
	case blk.kg < 128 && g.n >= 1024:
		most = 24 // rows of c are a page each, and what the time goes into
	}
	return tileLength(blk.hi-blk.lo, most, 2*simdgemm.ProductGroup), steps
}

// mulPanels computes all panels of a block, of p.K steps from step l of its own.
func (g *gemm) mulPanels(p *simdgemm.Product, blk block, l int) {
	if blk.panel == 0 {
		p.LDB, p.N = g.b.rs, blk.right-blk.left
		p.B, p.C = blk.b[l*p.LDB+blk.left:], g.c[blk.lo*g.n+blk.left:]
		p.MulAdd()
		return
	}
	p.LDB = blk.ldb
	g.fetchNext(p, blk, l)
	columns := func(from, to int) {
		p.B, p.N, p.C = blk.b[(from-blk.first)/nr*blk.panel+l*blk.ldb:], to-from, g.c[blk.lo*g.n+from:]
		p.Panels(blk.panel)
	}
	if !g.part || blk.panel == nr {
		columns(blk.left, blk.right)
		return
	}
	half := (blk.right - blk.left) / 2
	if half -= half % nr; half >= tileColumns || blk.right-blk.left <= tileColumns {
		half -= half % tileColumns // the kernel takes two panels in the time of one
	}
	half += blk.left
	columns(blk.left, half)
	g.fetchB(p, blk, l)
	columns(half, blk.right)
}

// operand gives p the block of a from (i, k0): in place or, where its rows would
// share the sets of a cache or its steps of k are a page each, as a copy.
func (g *gemm) operand(w *workspace, p *simdgemm.Product, i, k0 int) {
	a := g.a.from(i, k0)
	p.A, p.RS, p.CS, p.Tile = a.data, a.rs, a.cs, 0
	switch {
	case g.grouped():
		p.CS, p.Tile = simdgemm.ProductGroup, simdgemm.GroupPitch(p.K)
		p.A = room(&w.a, (p.M+simdgemm.ProductGroup-1)/simdgemm.ProductGroup*p.Tile)
		simdgemm.PackGroups(p.A, a.data, a.cs, p.M, p.K)
	case a.rs == 1:
	case g.copies():
		p.RS = p.K + nr
		p.A = room(&w.a, p.M*p.RS)
		for r := range p.M {
			copy(p.A[r*p.RS:r*p.RS+p.K], a.data[r*a.rs:])
		}
	}
}

// copies reports whether rows of a would share the sets of a cache.
func (g *gemm) copies() bool { return g.a.rs != 1 && g.n > 4*nr && g.a.rs%1024 == 0 }

// grouped reports whether a transposed a is copied in groups of rows.
func (g *gemm) grouped() bool { return g.a.rs == 1 && g.a.cs > 128 }
