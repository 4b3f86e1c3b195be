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
	l := notes[linearNotes](op)
	*l = linearNotes{x: x, w: w, b: b, y: y, u: u, inPlace: inPlace}
	return op.recordBy(y, l)
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
