package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// AddBias returns a(x + b) as one operation: the end of a layer. b has an
// element for each place along x's last axis, or is nil.
func (x *Var) AddBias(b *Var, a Activation) *Var {
	if b == nil {
		x.settleBorrower()
		return x.Activate(a)
	}
	u, folds := a.fromResult()
	if !folds && a != Identity {
		return x.AddBias(b, Identity).Activate(a)
	}
	if a == Identity {
		if y := x.biasAlong(b); y != nil {
			return y
		}
	}
	op := Begin("AddBias", x, b)
	if len(b.Value().Data) != x.Value().Dim(-1) {
		panic(tensor.Mismatch("grad.AddBias", x, b))
	}
	y := op.freshLike(x)
	n := notesOfBias(op, biasNotes{x: x, b: b, u: u, folds: folds, row: b})
	if row := [...]*Var{b}; a == ELU && x.val.Axes() == 2 && op.tape.Recording() && !x.leaf() && op.own(row[:]) {
		n.row = row[0]
		op.dry(0)
		return op.recordLate(y, n) // a dropout may come next
	}
	n.Run(op, y)
	return op.recordBy(y, n)
}

// settleBorrower has x worked out, for which no bias comes, if that reads what others may
// write to.
func (x *Var) settleBorrower() {
	if l := x.along(); l != nil {
		if b, ok := l.of.(interface{ Borrows() bool }); ok && b.Borrows() {
			x.tape.settle()
		}
	}
}

// biasNotes is the pullback of y = x + b or, if u is folded in, of u of that, or
// of a dropout of ELU of that.
type biasNotes struct {
	x, b, y *Var
	row     *Var  // b, or a copy of it
	from    *late // of a dropout: of what it is
	u       vec.Unary
	folds   bool
	drop    *vec.Dropout
}

func notesOfBias(op Op, n biasNotes) *biasNotes {
	to := notes[biasNotes](op)
	*to = n
	return to
}

// Run implements [deferred].
func (n *biasNotes) Run(op Op, y *Var) {
	n.y = y
	if !op.dry(0) {
		n.then(n.row).Forward(y.val.Data, n.x.val.Data)
	}
}

// then is what is done with each row, whose bias is b.
func (n *biasNotes) then(b *Var) dense.BiasThen {
	return dense.BiasThen{B: b.val.Data, F: n.u, On: n.folds, Drop: n.drop}
}

// Pull adds to the gradients of x and b.
func (n *biasNotes) Pull(dy *tensor.Dense) {
	if n.from != nil && n.from.apart {
		(&dropNotes{n.from.out, (*tensor.Mask)(n.drop)}).Pull(dy)
		return
	}
	var to dense.BiasGrads
	if dx, fresh := n.x.freshGrad(); dx != nil {
		to.X, to.SetX = dx.Data, fresh
	}
	if n.b.needs {
		to.B = n.b.Grad().Data
	}
	n.then(n.b).Backward(to, n.y.val.Data, dy.Data)
}

// took implements [taker].
func (n *biasNotes) took() string {
	if n.drop != nil {
		return "AddBias"
	}
	return ""
}

// dropAlong returns the dropout of x if that is a bias and an ELU that wait: all
// three are one pass over rows, and one over their gradient. Else it returns nil.
func (t *Tape) dropAlong(x *Var, d *tensor.Mask) *Var {
	if x.tape != t || t == nil {
		return nil
	}
	l := x.along()
	if l == nil || l.out != x {
		return nil
	}
	biased, ok := l.of.(*biasNotes)
	if !ok {
		return nil
	}
	y := l.takeWaiting()
	if y == nil {
		return nil
	}
	op := l.begin("Dropout", x)
	z := op.over(y.val.Data, x.val.Shape())
	n := notesOfBias(op, biasNotes{x: biased.x, b: biased.b, row: biased.row, from: l, drop: (*vec.Dropout)(d)})
	n.Run(op, z)
	return op.recordBy(z, n)
}

// biasAlong returns the sum of x and b if the operation that makes x adds b on its
// way, else nil.
func (x *Var) biasAlong(b *Var) *Var {
	if x.tape == nil {
		return nil
	}
	x.alive("AddBias")
	l := x.along()
	if l == nil {
		return x.biasAfter(b)
	}
	if bl := b.late.Load(); bl == l || b.csr != nil || !l.out.rowIs(x, b) {
		return nil
	}
	b.ready("AddBias")
	with, y := l.takeBiased(b)
	if with == nil {
		return nil
	}
	op := l.begin("AddBias", x, b)
	op.pullsFirst(b)
	z := op.over(y.val.Data, x.val.Shape())
	with.Run(l.op, y)
	return op.recordBy(z, notesOfSum(op, sumOfLate{x: x, b: b, with: with, y: y, from: l, pulls: l.op.needs, name: l.op.name}))
}

// biasing is a [deferred] that can add a bias on its way. Biased returns the operation
// with b added to each row of its result, of which b has an element for each, or nil if
// that is no gain. y is nil, and Run will be called of what is returned, which may take
// over what this one has prepared for a Run that has not been called; or y is that sum,
// of what Run has made.
type biasing interface {
	deferred
	Biased(b, y *Var) deferred
}

// takeBiased takes what waits along with a bias, if it can be. A goroutine that reads
// it meanwhile has the lock before, and then there is nothing to take, or after.
func (l *late) takeBiased(b *Var) (with deferred, y *Var) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of, ok := l.of.(biasing)
	if !ok || l.state != waiting {
		return nil, nil
	}
	if with = of.Biased(b, nil); with == nil {
		return nil, nil
	}
	return with, l.take()
}

// biasAfter is biasAlong where x is the result of the last operation, which could
// not wait: its pullback is that of the sum, too, so that the gradients have the
// same bits.
func (x *Var) biasAfter(b *Var) *Var {
	root, _ := x.origin()
	n := x.tape.last()
	if n == nil || n.out != root || b.tape != nil && b.gen != b.tape.gen || b.csr != nil || !root.rowIs(x, b) {
		return nil
	}
	of, ok := n.by.(biasing)
	if !ok {
		return nil
	}
	op := Begin("AddBias", x, b)
	y := op.freshLike(root)
	with := of.Biased(b, y)
	if with == nil {
		return nil
	}
	if !op.measuring() {
		dense.BiasThen{B: b.val.Data}.Forward(y.val.Data, x.val.Data)
	}
	x.used, root.used = false, false
	if tr := n.trace; tr != nil && op.trace != nil {
		op.trace.xs, op.trace.skip = append(tr.xs[:len(tr.xs):len(tr.xs)], b), tr.skip
		op.pullsFirst(b)
	}
	z := op.over(y.val.Data, x.val.Shape())
	return op.recordBy(z, notesOfSum(op, sumOfLate{x: x, b: b, with: with, y: y, pulls: true}))
}

// rowIs reports whether b has an element for each of a row of x and of v, which
// has all of x's elements.
func (x *Var) rowIs(v, b *Var) bool {
	n := tensor.Size(b.val.Shape()...)
	return n == v.val.Dim(-1) && n == x.val.RowLen() && tensor.Size(x.val.Shape()...) == tensor.Size(v.val.Shape()...)
}

// sumOfLate is the pullback of a sum of rows with b, which the operation that
// makes the rows added.
type sumOfLate struct {
	x, b  *Var
	with  deferred
	y     *Var  // the sum as with sees it
	from  *late // of x; nil: it was there
	pulls bool  // the gradient of with is wanted
	name  string
	dy    tensor.Dense // while it runs
}

func notesOfSum(op Op, n sumOfLate) *sumOfLate {
	to := notes[sumOfLate](op)
	*to = n
	return to
}

// took implements [taker].
func (n *sumOfLate) took() string { return n.name }

// Pull adds to the gradient of b, and then to those of the rows' operands.
func (n *sumOfLate) Pull(dy *tensor.Dense) {
	if n.readAgain() {
		(&biasNotes{x: n.x, b: n.b, y: n.y}).Pull(dy)
		return
	}
	if n.y.tape.dry {
		n.b.Grad()
	} else {
		pullBias(n.b, dy)
	}
	if n.pulls {
		n.dy = n.y.val
		n.dy.Data = dy.Data
		n.with.Pull(&n.dy)
	}
}

// readAgain reports whether an operation has read the rows beside the sum.
func (n *sumOfLate) readAgain() bool {
	if n.from != nil {
		return n.from.apart
	}
	root, _ := n.x.origin()
	return n.x.used || root.used
}

// pullBias adds dy to the gradient of b, which may be nil.
func pullBias(b *Var, dy *tensor.Dense) {
	if b != nil && b.needs {
		dense.BiasThen{B: b.val.Data}.Backward(dense.BiasGrads{B: b.Grad().Data}, nil, dy.Data)
	}
}
