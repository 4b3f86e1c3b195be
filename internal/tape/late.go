package tape

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Late is the [Pullback] of an operation whose result may wait, see [RecordLate]. Run sets every element of y, the
// result; memory that it lacks it takes from op.
type Late = interface {
	Pull(dy *tensor.Dense)
	Run(op grad.Op, y *grad.Var)
}

// Biasing is a [Late] that can add the bias of a layer on its way. Biased returns the operation with b added to each row
// of its result, of which b has an element for each, or nil if that is no gain. y is nil, and Run will be called of what
// is returned, which may take over what this one has prepared for a Run that has not been called; or y is that sum, of what
// Run has made.
type Biasing interface {
	Late
	Biased(b, y *grad.Var) Late
}

// Summing is a [Late] that can add an array on its way. Summed returns the operation with r, which has as many elements,
// added to its result, or nil if that is no gain. Run will be called of what is returned, which may take over what this one
// has prepared for a Run that has not been called. Its Pull must not read the result.
type Summing interface {
	Late
	Summed(r *grad.Var) Late
}

// RecordLate is [RecordBy] of a result that may wait: the operation has its place on the tape, but runs when the result
// is read, or when the next operation begins, which may take it along and run both as one. A result that was taken along
// and is read after all is worked out on its own then. So all operands must be the tape's own, see [Own]: what others can
// write to may be another thing by then. y is not read before the Run that is given it.
func RecordLate(op grad.Op, y *grad.Var, l Late) *grad.Var { return machinery.RecordLate(op, y, l) }

// Own reports whether an operation on xs may wait: whether all their elements are the tape's own. In the place of a small
// leaf, such as a bias, it puts a Var of its gradient and of a copy of its elements.
func Own(op grad.Op, xs []*grad.Var) bool { return machinery.Own(op, xs) }

// Projection is a result of Var.Project that is not held.
type Projection interface {
	// Shape returns the shape of the result, as an array that has no elements.
	Shape() *tensor.Dense

	// All has all of the result worked out by an operation.
	All(op grad.Op) *tensor.Dense

	// Heads sets the rows of to, a matrix, to those of the heads from number head on.
	Heads(to *tensor.Dense, head int)
}

// Projected returns what x is if it is a projection that is not held, else nil.
func Projected(x *grad.Var) Projection {
	if p := machinery.Projected(x); p != nil {
		return p
	}
	return nil
}

// BeginWithout is [grad.Begin] of an operation on xs that does without all of aside, which is one of them and a
// [Projection]. If aside is nil, it is Begin.
func BeginWithout(name string, aside *grad.Var, xs ...*grad.Var) grad.Op {
	return machinery.BeginWithout(name, aside, xs...)
}
