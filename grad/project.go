package grad

import (
	"slices"

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
	p := notes[projection](op)
	out := op.newVar()
	out.val.SetShape(x.val.Dim(0), heads, w.val.Dim(1)/heads)
	*p = projection{x: x, w: w, out: out}
	l := notes[late](op)
	l.state, l.op, l.of, l.out, l.label = waiting, op, p, out, op.tape.label
	out.late.Store(l)
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
