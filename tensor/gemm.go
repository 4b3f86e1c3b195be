package tensor

import (
	"sync"

	"github.com/edgewise-ml/edgewise/internal/par"
	"github.com/edgewise-ml/edgewise/internal/simd"
)

// The blocks of a product: a panel of kc×nr of b stays in the first cache, mc
// rows of a in the second.
const (
	kc = 384
	mc = 144
	nr = 16 // columns of a packed panel, two registers of the kernel
)

// Where k is at least splitFrom in a product with TransA, a gradient of weights,
// it is cut into parts of about splitPart rows, but not more than splitMost.
const (
	splitFrom = 4096
	splitPart = 2048
	splitMost = 8
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

// gemm is one product c += ab, of m×k and k×n. Rows of c are n apart.
type gemm struct {
	m, n, k int
	a       view
	b       view
	packed  []Float // b in panels of all k rows, if it came so
	c       []Float
}

// workspace is the memory in which a product packs its operands.
type workspace struct{ a, b, c []Float }

var workspaces = sync.Pool{New: func() any { return new(workspace) }}

// room returns n elements of *buf, whatever they are.
func room(buf *[]Float, n int) []Float {
	if cap(*buf) < n {
		*buf = make([]Float, n)
	}
	return (*buf)[:n]
}

// run computes the product, one block of k after the other.
func (g *gemm) run() {
	if g.m == 0 || g.n == 0 || g.k == 0 {
		return
	}
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	if g.k <= kc && g.inPlace() && g.packed == nil {
		g.rows(w, block{hi: g.m, kb: g.k, b: g.b.data})
		return
	}
	for k0 := 0; k0 < g.k; k0 += kc {
		kb := min(kc, g.k-k0)
		blk := block{hi: g.m, k0: k0, kb: kb, panel: kb * nr}
		switch {
		case g.packed != nil:
			blk.b, blk.panel = g.packed[k0*nr:], g.k*nr
		case g.inPlace():
			blk.b, blk.panel = g.b.from(k0, 0).data, 0
		default:
			blk.b = room(&w.b, panels(g.n)*kb*nr)
			pack(blk.b, g.b.from(k0, 0), kb, g.n)
		}
		g.rows(w, blk)
	}
}

// split computes a product with a long k in parts, each with a c of its own,
// which are added in order. How many depends on k alone.
func (g *gemm) split() {
	parts := min(splitMost, g.k/splitPart)
	w := workspaces.Get().(*workspace)
	defer workspaces.Put(w)
	private := room(&w.c, (parts-1)*g.m*g.n)
	clear(private)
	t := splits.Get().(*splitTask)
	*t = splitTask{gemm: *g, parts: parts, private: private}
	par.Run(parts, t)
	*t = splitTask{}
	splits.Put(t)
	for ; len(private) > 0; private = private[g.m*g.n:] {
		simd.Add.Forward(g.c, g.c, private[:g.m*g.n], 1, 1)
	}
}

// inPlace reports whether b is read where it is: its rows are contiguous, and
// either so short that they are close together or used too seldom to be moved.
func (g *gemm) inPlace() bool { return g.b.cs == 1 && (g.n <= 64 || g.m < 24) }

// block is the rows [lo, hi) of a product and kb steps of k from k0, with the
// rows of b for them: in panels that are panel elements apart, or in place if
// panel is 0.
type block struct {
	lo, hi, k0, kb int
	b              []Float
	panel          int
}

// strip computes a block. Blocks with other rows can be computed meanwhile.
func (g *gemm) strip(w *workspace, blk block) {
	rows := mc
	if blk.kb < 128 && g.n >= 1024 {
		rows = 24 // rows of c are a page each, and what the time goes into
	}
	for i := blk.lo; i < blk.hi; i += rows {
		mb := min(rows, blk.hi-i)
		a := g.a.from(i, blk.k0)
		if g.farApart() {
			a = a.gather(&w.a, mb, blk.kb)
		}
		p := simd.Product{A: a.data, RS: a.rs, CS: a.cs, LDC: g.n, M: mb, K: blk.kb}
		if blk.panel == 0 {
			p.B, p.LDB, p.N, p.C = blk.b, g.b.rs, g.n, g.c[i*g.n:]
			p.MulAdd()
			continue
		}
		p.LDB = nr
		for j := 0; j < g.n; j += nr {
			p.B, p.N, p.C = blk.b[j/nr*blk.panel:], min(nr, g.n-j), g.c[i*g.n+j:]
			p.MulAdd()
		}
	}
}

// farApart reports whether blocks of a are to be copied together before use:
// its rows would share the sets of a cache, or its steps of k a page each.
func (g *gemm) farApart() bool {
	if g.a.rs == 1 {
		return g.n > 2*nr && g.a.cs > 64
	}
	return g.n > 4*nr && g.a.rs%512 == 0
}

// gather copies m×k elements of v to a buffer whose rows, or columns where those
// are contiguous, are a little apart, so that they do not share cache sets.
func (v view) gather(buf *[]Float, m, k int) view {
	if v.rs == 1 {
		to := view{room(buf, k*(m+nr)), 1, m + nr}
		for j := range k {
			copy(to.data[j*to.cs:j*to.cs+m], v.data[j*v.cs:])
		}
		return to
	}
	to := view{room(buf, m*(k+nr)), k + nr, 1}
	for i := range m {
		copy(to.data[i*to.rs:i*to.rs+k], v.data[i*v.rs:])
	}
	return to
}
