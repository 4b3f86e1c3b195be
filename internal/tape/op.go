package tape

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// machinery is package grad's, for all but [Notes].
var machinery = grad.Machinery[struct{}]()

// Pullback is what an operation does in Backward: it is given the gradient of the operation's result and adds to those of
// the operands, like the function that Record takes. dy is nil of an operation with several results.
type Pullback = interface{ Pull(dy *tensor.Dense) }

// Notes returns a zero T that lives until the tape's next Reset, and is another operation's afterwards. A [Pullback] that
// is one knows its operands without garbage, as operations want that a [Loop] runs round by round.
func Notes[T any](op grad.Op) *T { return grad.Machinery[T]().Notes(op) }

// Note is [Notes] of what is of.
func Note[T any](op grad.Op, of T) *T {
	n := Notes[T](op)
	*n = of
	return n
}

// RecordBy is op.Record with a pullback that needs no closure.
func RecordBy(op grad.Op, y *grad.Var, p Pullback) *grad.Var { return machinery.RecordBy(op, y, p) }

// RecordAllBy is op.RecordAll with a pullback that needs no closure.
func RecordAllBy(op grad.Op, ys []*grad.Var, p Pullback) { machinery.RecordAllBy(op, ys, p) }

// FreshFloats is op.Floats of elements that hold anything until they are set.
func FreshFloats(op grad.Op, n int) []tensor.Float { return machinery.FreshFloats(op, n) }

// FreshScratch is op.Scratch of elements that hold anything until they are set.
func FreshScratch(op grad.Op, n int, f func(buf []tensor.Float)) { machinery.FreshScratch(op, n, f) }

// FreshGrad is x.Grad for a pullback that can set the gradient as well as add to it. If fresh is true nothing has been
// added yet, and the array holds anything: the pullback must set each element at once. It must not ask for the gradient
// of another operand in between, which may be the same one.
func FreshGrad(x *grad.Var) (g *tensor.Dense, fresh bool) { return machinery.FreshGrad(x) }

// Dry reports whether the operation is to leave out its arithmetic: under [grad.Measure] only the shapes of results
// count. An operation takes every array that it keeps before it asks. Its pullback does not run either. It is taken to
// borrow that many scratch elements and then to make the gradients of the operands in their order; one that does otherwise
// asks [Measuring].
func Dry(op grad.Op, scratch int) bool { return machinery.Dry(op, scratch) }

// Measuring reports whether the operation runs under [grad.Measure]. It is [Dry] for an operation whose pullback needs
// memory that a number does not describe, such as the gradients of several results: that runs then, takes its memory, asks
// as well and leaves out its arithmetic.
func Measuring(op grad.Op) bool { return machinery.Measuring(op) }

// BeginOver is [grad.Begin] of an operation on x and xs that overwrites x's elements: z are these, if nothing has read x,
// or else a copy. Reading x afterwards panics with a [*grad.TapeError] then.
func BeginOver(name string, x *grad.Var, xs ...*grad.Var) (op grad.Op, z []tensor.Float) {
	return machinery.BeginOver(name, x, xs...)
}

// KeepProducts has t, one of [grad.NewEval], work out the products of x with Params once and keep them across Resets: for
// layers that run on the same rows again and again, with another part of a graph each time. x, which is dense or sparse,
// and the Params must stay as they are. Each product takes memory of its own until KeepProducts is called again; if x is
// nil, t keeps none. No bit of a result changes.
func KeepProducts(t *grad.Tape, x tensor.Array) { machinery.KeepProducts(t, x) }
