package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Add returns x + y under NumPy's broadcasting: shapes are aligned at the last
// axis, and a length of 1 stretches.
func (x *Var) Add(y *Var) *Var { return x.binary(vec.Add, y) }

// Sub returns x − y, with broadcasting.
func (x *Var) Sub(y *Var) *Var { return x.binary(vec.Sub, y) }

// Mul returns the product of elements, with broadcasting.
func (x *Var) Mul(y *Var) *Var { return x.binary(vec.Mul, y) }

// Div returns the quotient of elements, with broadcasting.
func (x *Var) Div(y *Var) *Var { return x.binary(vec.Div, y) }

// Min returns the smaller of two elements, with broadcasting. Where they tie the
// gradient goes to x.
func (x *Var) Min(y *Var) *Var { return x.binary(vec.Min, y) }

// Max returns the larger of two elements, with broadcasting. Where they tie the
// gradient goes to x.
func (x *Var) Max(y *Var) *Var { return x.binary(vec.Max, y) }

func (x *Var) binary(f vec.Binary, y *Var) *Var {
	if f == vec.Add && y != nil && (x.sum != noSummand || y.sum != noSummand) {
		if z := x.addAlong(y); z != nil {
			return z
		}
	}
	if f == vec.Add {
		if z := x.sumAlong(y); z != nil {
			return z
		}
	}
	op := Begin(f.String(), x, y)
	n := note(op, binaryNotes{f: f, x: x, y: y, few: fewRows(x.Value(), y.Value())})
	if f == vec.Add && slices.Equal(x.val.Shape(), y.val.Shape()) {
		n.sum = true
	}
	if n.few {
		z := op.freshLike(x)
		if !op.dry(0) {
			n.forward(z.val.Data)
		}
		return op.recordBy(z, n)
	}
	var z *Var
	if slices.Equal(x.val.Shape(), y.val.Shape()) {
		z = op.freshLike(x)
	} else {
		z = op.Fresh(op.broadcast(&extents{}, x, y)...)
	}
	if !op.dry(0) {
		tensor.Combine(&z.val, &x.val, &y.val, tensor.Binary(f))
	}
	if n.sum {
		op.pullsLast(x)
	}
	if n.sum && distinct(x, y) {
		n.z = z
		op.mayHandOver(z, x)
	}
	return op.recordBy(z, n)
}

// fewRows reports whether x is few elements and y as many, or a row of them.
func fewRows(x, y *tensor.Dense) bool {
	n, m := len(x.Data), len(y.Data)
	at := x.Axes() - y.Axes()
	return n <= small && at >= 0 && slices.Equal(x.Shape()[at:], y.Shape()) && (m > 1 || n <= 1)
}

// broadcast writes the shape that x and y share to room.
func (op Op) broadcast(room *extents, x, y *Var) []int {
	shape, ok := tensor.AppendBroadcast(room[:0], x.val.Shape(), y.val.Shape())
	if !ok {
		panic(tensor.Mismatch("grad."+op.name, x, y))
	}
	return shape
}

// binaryNotes is the pullback of a function of x and y, of which few are taken
// row by row.
type binaryNotes struct {
	f    vec.Binary
	x, y *Var
	few  bool
	sum  bool // of two that are not stretched
	z    *Var // such a sum, whose gradient may become that of x; nil: it may not
}

// forward sets z to the function of few.
func (n *binaryNotes) forward(z []tensor.Float) {
	if n.x == nil { // a Reset has taken the notes
		panic(shared("an operation"))
	}
	n.f.ForwardRows(z, n.x.val.Data, n.y.val.Data)
}

// pullY adds to the gradient of y of few.
func (n *binaryNotes) pullY(dy, dz []tensor.Float) {
	x, y := n.x.val.Data, n.y.val.Data
	for w := len(y); len(dz) > 0; x, dz = x[w:], dz[w:] {
		n.f.BackwardY(dy, dz[:w], x[:w], y, 1, 1)
	}
}

// pullX adds to the gradient of x of few.
func (n *binaryNotes) pullX(dx, dz []tensor.Float) {
	x, y := n.x.val.Data, n.y.val.Data
	for w := len(y); len(dz) > 0; x, dx, dz = x[w:], dx[w:], dz[w:] {
		n.f.BackwardX(dx[:w], dz[:w], x[:w], y, 1, 1)
	}
}

// Pull adds to the gradients of x and y.
func (n *binaryNotes) Pull(dz *tensor.Dense) {
	x, y := n.x, n.y
	if x == nil { // as in forward
		panic(shared("Backward"))
	}
	if n.sum && !n.few {
		n.pullSum(dz)
		return
	}
	switch dx := x.Grad(); {
	case dx == nil:
	case n.few:
		n.pullX(dx.Data, dz.Data)
	default:
		tensor.CombineGradX(dx, dz, &x.val, &y.val, tensor.Binary(n.f))
	}
	switch dy := y.Grad(); {
	case dy == nil:
	case n.few:
		n.pullY(dy.Data, dz.Data)
	default:
		tensor.CombineGradY(dy, dz, &x.val, &y.val, tensor.Binary(n.f))
	}
}

// pullSum is Pull for a sum: both gradients are that of the result, whose memory one of
// them may take.
func (n *binaryNotes) pullSum(dz *tensor.Dense) {
	pass := func(x *Var) {
		switch dx, fresh := x.freshGrad(); {
		case dx == nil:
		case fresh:
			tensor.SetGrad(dx, dz, dz, dz, tensor.Unary(vec.Shift), 0)
		default:
			tensor.CombineGradX(dx, dz, &n.x.val, &n.y.val, tensor.Binary(n.f))
		}
	}
	pass(n.y)
	if n.z == nil || !n.z.handsOver(n.x) || !n.z.handOver(n.x) {
		pass(n.x)
	}
}

// Where returns x where c is not 0 and y where it is, with broadcasting. c has no
// gradient. An element that is not chosen does no harm, be it NaN.
func Where(c, x, y *Var) *Var {
	Begin("Where", c, x, y)
	shape, ok := tensor.Broadcast(x.Value().Shape(), y.Value().Shape())
	if ok {
		shape, ok = tensor.Broadcast(shape, c.Value().Shape())
	}
	if !ok {
		panic(tensor.Mismatch("grad.Where", c, x, y))
	}
	c, x, y = c.fit(shape), x.fit(shape), y.fit(shape)
	op := Begin("Where", x, y, c)
	z, k := op.Fresh(shape...), dense.Where{If: c.val.Data, X: x.val.Data, Y: y.val.Data}
	if !op.dry(0) {
		k.Forward(z.val.Data)
	}
	return op.Record(z, func(dz *tensor.Dense) { k.Backward(gradOf(x), gradOf(y), dz.Data) })
}

// fit is Expand where it is needed.
func (x *Var) fit(shape []int) *Var {
	if slices.Equal(x.Shape(), shape) {
		return x
	}
	return x.Expand(shape...)
}

// summing is a [deferred] that can add an array on its way: see tape.Summing.
type summing interface {
	deferred
	Summed(r *Var) deferred
}

// sumAlong returns the sum of x and y if the operation that makes one of them waits, and
// adds the other on its way, else nil.
func (x *Var) sumAlong(y *Var) *Var {
	m, r, l := x, y, x.along()
	if l == nil && y != nil {
		m, r, l = y, x, y.along()
	}
	if l == nil || r == nil || r.late.Load() == l || r.csr != nil || !slices.Equal(x.val.Shape(), y.val.Shape()) {
		return nil
	}
	r.alive("Add")
	r.ready("Add")
	with, sum := l.takeSummed(r)
	if with == nil {
		return nil
	}
	n := sumWith{x: x, y: y, r: r, with: with, sum: sum, from: l, pulls: l.op.needs}
	n.lone = r.tape != nil && r.needs && r.base == nil && !r.hold && !r.used && r.tape.loop == nil
	op := l.begin("Add", m, r)
	n.out = op.over(sum.val.Data, x.val.Shape())
	if tr := op.trace; tr != nil { // r first, whose gradient lies in the sum's place
		last := len(tr.xs) - 1
		if tr.xs = append([]*Var{r}, tr.xs[:last]...); n.lone {
			tr.xs, tr.over = append(tr.xs[1:], r), r
		}
	}
	with.Run(l.op, sum)
	return op.recordBy(n.out, note(op, n))
}

// takeSummed is takeBiased with what is added to all elements.
func (l *late) takeSummed(r *Var) (with deferred, y *Var) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of, ok := l.of.(summing)
	if !ok || l.state != waiting {
		return nil, nil
	}
	if with = of.Summed(r); with == nil {
		return nil, nil
	}
	return with, l.take()
}

// sumWith is the pullback of x + y, of which one is r and the operation that makes the
// other has added that.
type sumWith struct {
	x, y, r *Var
	with    deferred
	sum     *Var // the result as with sees it
	out     *Var // and as others do
	from    *late
	pulls   bool // the gradient of with is wanted
	lone    bool // nothing that was recorded before has read r
	dy      tensor.Dense
}

// took implements [taker].
func (n *sumWith) took() string { return n.from.op.name }

// Pull adds to the gradient of r, and to those of the other summand's operands. Of an r that
// only the sum has read the gradient is dy itself, when that has been read.
func (n *sumWith) Pull(dy *tensor.Dense) {
	if n.from.apart {
		(&binaryNotes{f: vec.Add, x: n.x, y: n.y, sum: true}).Pull(dy)
		return
	}
	passes := !n.lone || n.r.has
	if passes {
		n.pass(dy)
	}
	if n.pulls {
		n.dy = n.sum.val
		n.dy.Data = dy.Data
		n.with.Pull(&n.dy)
	}
	if !passes {
		n.out.giveGrad(n.r)
	}
}

// pass copies dy to the gradient of r, or adds it.
func (n *sumWith) pass(dy *tensor.Dense) {
	if dr, fresh := n.r.freshGrad(); fresh {
		tensor.SetGrad(dr, dy, dy, dy, tensor.Unary(vec.Shift), 0)
	} else if dr != nil {
		tensor.CombineGradX(dr, dy, dy, dy, tensor.Binary(vec.Add))
	}
}
