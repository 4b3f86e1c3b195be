package grad

import (
	"slices"

	"github.com/edgewise-ml/edgewise/internal/simd/vec"
	"github.com/edgewise-ml/edgewise/tensor"
)

// ELUAlpha returns x where it is positive, else alpha·(eˣ − 1).
func (x *Var) ELUAlpha(alpha float64) *Var { return x.unary(vec.ELU, tensor.Float(alpha)) }

// LogSigmoid returns log(1/(1 + e⁻ˣ)).
func (x *Var) LogSigmoid() *Var {
	op := Begin("LogSigmoid", x)
	minus, soft, y := op.freshLike(x), op.freshLike(x), op.freshLike(x)
	if !op.dry(0) {
		tensor.Apply(&minus.val, &x.val, tensor.Unary(vec.Neg), 0)
		tensor.Apply(&soft.val, &minus.val, tensor.Unary(vec.Softplus), 0)
		tensor.Apply(&y.val, &soft.val, tensor.Unary(vec.Neg), 0)
	}
	n := notes[unaryNotes](op)
	*n = unaryNotes{x, minus, soft, kernel{vec.Softplus, 0}} // two signs that cancel
	return op.recordBy(y, n)
}

// Mish returns x·tanh(log(1 + eˣ)).
func (x *Var) Mish() *Var { return x.Mul(x.Softplus().Tanh()) }

// Maxout returns the largest of each k elements that follow each other on the
// last axis, whose length is a multiple of k.
func (x *Var) Maxout(k int) *Var {
	var room extents
	shape := append(room[:0], x.Value().Shape()...)
	last := len(shape) - 1
	if k < 1 || shape[last]%k != 0 || len(shape) == tensor.MaxAxes {
		panic(&tensor.ShapeError{Op: "grad.Maxout", Shapes: [][]int{slices.Clone(shape), {k}}, Why: "the last axis is no multiple of the pieces, or an axis too many"})
	}
	shape[last] /= k
	return x.Reshape(append(shape, k)...).MaxAxis(-1)
}

// fromResult returns the kernel of an activation whose slope the result alone
// tells, so that the argument need not be kept.
func (a Activation) fromResult() (u vec.Unary, ok bool) {
	switch a {
	case ReLU:
		return vec.ReLU, true
	case ELU:
		return vec.ELU, true
	case Sigmoid:
		return vec.Sigmoid, true
	case Tanh:
		return vec.Tanh, true
	}
	return 0, false
}
