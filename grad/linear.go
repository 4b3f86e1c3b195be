package grad

import (
	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Linear returns a(x·w + b) as one operation: a dense layer. x is as in
// [Var.MatMul], b has an element for each column of w or is nil.
func (x *Var) Linear(w, b *Var, a Activation) *Var {
	u, inPlace := a.fromResult()
	if !inPlace && a != Identity {
		return x.Linear(w, b, Identity).Activate(a)
	}
	if y := x.keptProduct(w, b, string(a), func(x, w, b *Var) *Var { return x.Linear(w, b, a) }); y != nil {
		return y
	}
	xs := [...]*Var{x, w, b}
	n := len(xs)
	if b == nil {
		n--
	}
	op := Begin("Linear", xs[:n]...)
	if op.tape.shares(w) && x.csr == nil {
		y := x.MatMul(w)
		if b != nil {
			y = y.Add(b)
		}
		return y.Activate(a)
	}
	y := op.Fresh(linearShape(&extents{}, x, w, b)...)
	scratch := 0
	if inPlace {
		scratch = len(y.val.Data)
	}
	if !op.dry(scratch) {
		var then tensor.Epilogue
		if b != nil {
			then.Bias = &b.val
		}
		if inPlace {
			then.Act = tensor.Activate(tensor.Unary(u), 1)
		}
		if x.csr == nil {
			op.multiply(&y.val, x, w, then)
		} else {
			multiply(&y.val, x, w)
			end(&y.val, b, kernel{u, 1}, inPlace)
		}
	}
	if inPlace && b != nil {
		op.pulls(b, x, w)
	}
	return op.recordBy(y, note(op, linearNotes{x: x, w: w, b: b, y: y, u: u, inPlace: inPlace}))
}

// linearNotes is the pullback of y = x·w + b and, if it is in place, of u of
// that.
type linearNotes struct {
	x, w, b, y *Var
	u          vec.Unary
	inPlace    bool
	dz         tensor.Dense // while it runs, the gradient of what u is of
}

// Pull adds to the gradients of x, w and b.
func (n *linearNotes) Pull(dy *tensor.Dense) {
	if !n.inPlace {
		n.pullPlain(dy)
		return
	}
	t := n.y.tape
	n.dz = n.y.val
	n.dz.Data, _ = t.lend(len(dy.Data))
	n.activationGrad(dy)
	pullProduct(n.x, n.w, &n.dz)
	t.recycle(n.dz.Data)
}

// pullPlain adds the gradients where no function follows. Those of w and b, which lie
// apart, are made together where dy would leave the caches between the two.
func (n *linearNotes) pullPlain(dy *tensor.Dense) {
	if n.b == nil || !n.b.needs || !n.w.needs || n.x.csr != nil ||
		len(dy.Data) < jointLeast || n.w.Dim(1) < jointWidth || !distinct(n.w, n.b) {
		pullProduct(n.x, n.w, dy)
		pullBias(n.b, dy)
		return
	}
	dy = matrix(dy)
	pullFactor(n.x, n.w, dy)
	dw, fresh := n.w.freshGrad()
	tensor.MatMulSum(dw, matrix(&n.x.val), dy, fresh, n.b.Grad())
}

// jointLeast is how many elements of a gradient are more than the caches hold; tests
// set it. The product of one with rows narrower than jointWidth reads it another way.
var jointLeast = 1 << 20

const jointWidth = 16

// activationGrad sets dz to the gradient of what u is of, and adds to b's on the way.
func (n *linearNotes) activationGrad(dy *tensor.Dense) {
	if n.b == nil {
		setUnary(&n.dz, dy, n.y, n.y, kernel{n.u, 1})
		return
	}
	to := dense.BiasGrads{X: n.dz.Data, SetX: true}
	if n.b.needs {
		to.B = n.b.Grad().Data
	}
	dense.BiasThen{B: n.b.val.Data, F: n.u, On: true}.Backward(to, n.y.val.Data, dy.Data)
}

// end adds b, unless it is nil, to y and applies the kernel if it is on.
func end(y *tensor.Dense, b *Var, k kernel, on bool) {
	switch {
	case b != nil:
		dense.BiasThen{B: b.val.Data, F: k.f, On: on}.Forward(y.Data, y.Data)
	case on:
		tensor.Apply(y, y, tensor.Unary(k.f), k.c)
	}
}

// linearShape checks the operands of Linear and writes the result's shape to
// room.
func linearShape(room *extents, x, w, b *Var) []int {
	sh := append(room[:0], x.Shape()...)
	k := len(sh) - 1
	switch {
	case len(w.Value().Shape()) != 2 || sh[k] != w.Dim(0):
		panic(tensor.Mismatch("grad.Linear", x, w))
	case b != nil && len(b.Value().Data) != w.Dim(1):
		panic(tensor.Mismatch("grad.Linear", x, w, b))
	}
	sh[k] = w.Dim(1)
	return sh
}

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
	n := note(op, biasNotes{x: x, b: b, u: u, folds: folds, row: b})
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

// biasNotes is the pullback of y = x + b or, if u is folded in, of u of that, and of a
// dropout that follows, if there is one.
type biasNotes struct {
	x, b, y *Var
	row     *Var // b, or a copy of it
	u       vec.Unary
	folds   bool
	drop    *vec.Dropout
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
	var to dense.BiasGrads
	if dx, fresh := n.x.freshGrad(); dx != nil {
		to.X, to.SetX = dx.Data, fresh
	}
	if n.b.needs {
		to.B = n.b.Grad().Data
	}
	n.then(n.b).Backward(to, n.y.val.Data, dy.Data)
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
	return op.recordBy(z, note(op, sumOfLate{x: x, b: b, with: with, y: y, from: l, pulls: l.op.needs, name: l.op.name}))
}

// biasing is a [deferred] that can add a bias on its way: see tape.Biasing.
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
	return op.recordBy(z, note(op, sumOfLate{x: x, b: b, with: with, y: y, pulls: true}))
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
