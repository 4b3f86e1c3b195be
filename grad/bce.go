package grad

import (
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/internal/dense"
	"github.com/edgewise-ml/edgewise/tensor"
)

// BCE is the binary cross-entropy of logits x against targets t from 0 to 1, for
// each element,
//
//	ℓ = −w·(p·t·log σ(x) + (1 − t)·log(1 − σ(x))),   σ(x) = 1/(1 + e⁻ˣ)
//
// as accurate for large logits. The target gets no gradient.
type BCE struct {
	Loss
	PosWeight []float64     // p of each column; nil: all 1
	Weights   *tensor.Dense // w, broadcast to x; nil: all 1
}

// BCE returns the mean binary cross-entropy of logits x against targets from 0 to
// 1.
func (x *Var) BCE(target *Var) *Var { return BCE{}.Of(x, target) }

// Of returns the loss of logits x against a target of the same shape.
func (b BCE) Of(x, target *Var) *Var {
	d := x.Value().Dim(-1)
	if b.PosWeight != nil && len(b.PosWeight) != d {
		panic(&tensor.ShapeError{Op: "grad.BCE", Shapes: [][]int{slices.Clone(x.Shape())}, Why: fmt.Sprintf("%d weights of positives for %d columns", len(b.PosWeight), d)})
	}
	e := notes[dense.BCE](Op{tape: x.tape})
	e.Width, e.Pos = d, b.PosWeight
	if b.Weights != nil {
		if shape, ok := tensor.Broadcast(x.Shape(), b.Weights.Shape()); !ok || !slices.Equal(shape, x.Shape()) {
			panic(tensor.Mismatch("grad.BCE", x, b.Weights))
		}
		e.Weights = Const(b.Weights).fit(x.Shape()).val.Data
	}
	if target.needs {
		target = target.Detach()
	}
	return b.of("BCE", e, x, target)
}
