package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/scratch"
	"github.com/edgewise-ml/edgewise/internal/simd/cpu"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Project returns x·w as rows of so many heads, N×heads×D: [Var.MatMul] and [Var.Reshape].
//
// On a tape that records nothing a large result of dense x, in heads of eight by the eight,
// is not held if it need not be: products with a row of heads ([Var.Dot]) and graph
// attention work out the parts that they read, to the same bits, and what else reads it has
// all of it worked out. Until then x and w must stay as they are.
func (x *Var) Project(w *Var, heads int) *Var {
	if !x.projects(w, heads) {
		y := x.MatMul(w)
		return y.Reshape(y.Dim(0), heads, y.Dim(1)/max(heads, 1))
	}
	op := Begin("MatMul", x, w)
	out := op.newVar()
	out.val.SetShape(x.val.Dim(0), heads, w.val.Dim(1)/heads)
	p := note(op, projection{x: x, w: w, out: out})
	op.postpone(out, nil, p)
	return op.recordBy(out, p)
}

// projects reports whether x·w need not be held.
func (x *Var) projects(w *Var, heads int) bool {
	t := w.tape
	if !waits || t == nil || t.Recording() || t.loop != nil || t.inside != outside || t.weights != nil || t.keeps(x) || x.tape != nil && x.tape != t || x.IsSparse() {
		return false
	}
	xs, ws := x.Shape(), w.Shape()
	return len(xs) == 2 && len(ws) == 2 && xs[1] == ws[0] && heads > 0 && heads%8 == 0 && ws[1] == 8*heads && xs[0]*ws[1] > cpu.HeldMost
}

// projection is the result of [Var.Project] that is not held.
type projection struct{ x, w, out *Var }

// projected returns what x is if it is not held, else nil.
func (x *Var) projected() *projection {
	l := x.late.Load()
	if l == nil {
		return nil
	}
	p, _ := l.of.(*projection)
	return p
}

// Shape returns the shape of the result, as an array that has no elements.
func (p *projection) Shape() *tensor.Dense { return &p.out.val }

// All has all of the result worked out by an operation.
func (p *projection) All(op Op) *tensor.Dense {
	if l := p.out.late.Load(); l != nil {
		l.read(op.name, op.tape != nil)
	}
	return &p.out.val
}

// Heads sets the rows of to, a matrix, to those of the heads from number head on.
func (p *projection) Heads(to *tensor.Dense, head int) {
	k, columns, from := p.w.val.Dim(0), to.Dim(1), head*p.out.val.Dim(-1)
	w := tensor.New(k, columns)
	for i := range k {
		copy(w.Row(i), p.w.val.Row(i)[from:from+columns])
	}
	tensor.MatMulThen(to, &p.x.val, w, 0, tensor.Epilogue{})
}

// projectRows is about how many rows are worked out at a time.
const projectRows = 1 << 13

// rows calls f with the elements of the rows from lo to hi, for all rows.
func (p *projection) rows(f func(x []tensor.Float, lo, hi int)) {
	n, columns := p.x.val.Dim(0), p.w.val.Dim(1)
	parts := max(1, n/projectRows) // and no last one of a few rows
	buf := scratch.Borrow((n/parts + 1) * columns)
	defer scratch.Repay(buf)
	var to tensor.Dense
	for i := range parts {
		lo, hi := i*n/parts, (i+1)*n/parts
		to.Set((*buf)[:(hi-lo)*columns], hi-lo, columns)
		tensor.MatMulThen(&to, p.x.val.RowRange(lo, hi), &p.w.val, 0, tensor.Epilogue{})
		f(to.Data, lo, hi)
	}
}

// dotHeads is x.Dot(y) of the projection x.
func (p *projection) dotHeads(y *Var) *Var {
	xs := [...]*Var{p.out, y}
	op := beginWithout("Dot", nil, p.out, xs[:])
	return op.dotHeads(p.out, y, op.New(lastOne(&extents{}, p.out.val.Shape())...))
}

// takesRow reports whether y is a row of heads.
func (p *projection) takesRow(y *Var) bool {
	return y != nil && y.csr == nil && slices.Equal(p.out.val.Shape()[1:], y.Shape())
}

// Run implements [deferred].
func (p *projection) Run(op Op, y *Var) {
	if op.dry(0) {
		return
	}
	var to tensor.Dense
	to.Set(y.val.Data, p.x.val.Dim(0), p.w.val.Dim(1))
	tensor.MatMulThen(&to, &p.x.val, &p.w.val, 0, tensor.Epilogue{})
}

// Pull does nothing: nothing was recorded.
func (p *projection) Pull(*tensor.Dense) {}

// perHead reports whether x is rows of what y is one of, such as the features of
// nodes and an attention vector for each head.
func perHead(x, y *Var) bool {
	xs, ys := x.val.Shape(), y.val.Shape()
	return len(xs) > 1 && slices.Equal(xs[1:], ys) && tensor.Size(xs...) > 0
}

// dotHeads is Dot where y has the shape of one of x's rows. It waits for another
// such product of x.
func (op Op) dotHeads(x, y, z *Var) *Var {
	n := note(op, headNotes{op: op, x: x, of: [2]headPull{{y: y, row: y}}})
	if row := [...]*Var{y}; !x.leaf() && op.own(row[:]) {
		n.of[0].row = row[0]
		op.dry(foldRoom(x, y))
		return op.recordLate(z, n)
	}
	n.Run(op, z)
	return op.recordBy(z, n)
}

// Run implements [deferred].
func (n *headNotes) Run(op Op, z *Var) {
	if n.of[0].w == nil {
		n.of[0].w = z
	}
	k, room := headsOf(n.x), 0
	if n.of[0].y.Needs() {
		room = k.Room()
	}
	if !op.dry(room) {
		k.With[0] = dense.HeadRow{Y: n.of[0].row.val.Data, W: z.val.Data}
		n.forward(k)
	}
}

// forward makes the products. Of a projection that is not held it makes some rows at a time.
func (n *headNotes) forward(k dense.PerHead) {
	p := n.x.projected()
	if p == nil {
		k.Forward()
		return
	}
	p.rows(func(x []tensor.Float, lo, hi int) {
		part := k
		part.X, part.Rows = x, hi-lo
		for j, with := range k.With {
			if with.Y != nil {
				part.With[j].W = with.W[lo*k.Heads : hi*k.Heads]
			}
		}
		part.Forward()
	})
}

// dotAlong returns x.Dot(y) if such a product of x with a row waits: both are one
// pass over x, and one in Backward. Else it returns nil.
func (x *Var) dotAlong(y *Var) *Var {
	t := x.tape
	if t == nil || t.waiting == nil || x.gen != t.gen || y == nil {
		return nil
	}
	l := t.waiting
	n, ok := l.of.(*headNotes)
	if !ok || n.x != x || y.csr != nil || y.late.Load() != nil || !perHead(x, y) || (x.needs || y.Needs()) != l.op.needs {
		return nil
	}
	xs := [...]*Var{x, y}
	op := beginWithout("Dot", l, x, xs[:])
	z := op.Fresh(lastOne(&extents{}, x.val.Shape())...)
	n.of[0], n.of[1] = headPull{y: y, row: y, w: z}, headPull{y: n.of[0].y, row: n.of[0].row, w: l.out} // as the pullbacks of both would run
	l.runBoth(n)
	op.done()
	if last := t.last(); op.needs && last != nil {
		z.needs = true
		last.out, last.outs = nil, t.several([]*Var{z, l.out})
		t.takenAlong(y)
		if tr := last.trace; tr != nil {
			tr.xs = slices.Insert(tr.xs, 1, y)
			tr.scratch += foldRoom(x, y)
		}
	}
	return z
}

// runBoth makes two products, of which one waits unless it has been read.
func (l *late) runBoth(n *headNotes) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.op.tape.waiting = nil
	k := headsOf(n.x)
	second := dense.HeadRow{Y: n.of[0].row.val.Data, W: n.of[0].w.val.Data}
	k.With = [2]dense.HeadRow{{Y: n.of[1].row.val.Data, W: n.of[1].w.val.Data}, second}
	if l.state == settled { // another goroutine has read it
		clear(second.W)
		k.With = [2]dense.HeadRow{second}
	}
	if !l.op.measuring() {
		n.forward(k)
	}
	if l.state != settled {
		l.release(l.out.val.Data)
	}
}

// headNotes is the pullback of the products of x with one row or two.
type headNotes struct {
	op Op
	x  *Var
	of [2]headPull
}

// Pull adds to the gradients of x and of the rows.
func (n *headNotes) Pull(dz *tensor.Dense) {
	if dz != nil {
		n.of[0].dw = dz
		pullHeads(n.op, n.x, &n.of)
		return
	}
	for j := range n.of {
		n.of[j].dw = n.of[j].w.Grad()
	}
	pullHeads(n.op, n.x, &n.of)
}

// headPull is what a row was multiplied with, and the gradient of the products w.
type headPull struct {
	y, w *Var
	row  *Var // y, or a copy of it
	dw   *tensor.Dense
}

// headsOf is the product of x's rows with rows that are still to be named.
func headsOf(x *Var) dense.PerHead {
	width := x.val.Dim(-1)
	return dense.PerHead{X: x.val.Data, Rows: x.val.Dim(0), Heads: x.val.RowLen() / width, Width: width}
}

// foldRoom is how much scratch the gradient of y takes.
func foldRoom(x, y *Var) int {
	if !y.Needs() {
		return 0
	}
	k := headsOf(x)
	return k.Room()
}

// pullHeads adds the gradients of the products of x with one row or two.
func pullHeads(op Op, x *Var, ps *[2]headPull) {
	room := 0
	for _, p := range ps {
		if p.y != nil {
			room += foldRoom(x, p.y)
		}
	}
	if room == 0 {
		backHeads(x, ps, nil)
		return
	}
	op.Scratch(room, func(buf []tensor.Float) { backHeads(x, ps, buf) })
}

// backHeads is pullHeads with scratch.
func backHeads(x *Var, ps *[2]headPull, buf []tensor.Float) {
	k, to := headsOf(x), dense.HeadGrads{X: gradOf(x)}
	if ps[1].y == nil {
		to.Apart = distinct(x, ps[0].y)
	} else {
		to.Apart = distinct(x, ps[0].y, ps[1].y)
	}
	for j, p := range ps {
		if p.y == nil {
			break
		}
		k.With[j] = dense.HeadRow{Y: p.y.val.Data, W: p.dw.Data}
		if dy := p.y.Grad(); dy != nil {
			to.Y[j] = dy.Data
		}
	}
	k.Backward(&to, buf)
}
