package grad

import (
	"fmt"
	"math"
	"slices"

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
	e := Notes[bce](Op{tape: x.tape})
	e.width, e.pos = d, b.PosWeight
	if b.Weights != nil {
		if shape, ok := tensor.Broadcast(x.Shape(), b.Weights.Shape()); !ok || !slices.Equal(shape, x.Shape()) {
			panic(tensor.Mismatch("grad.BCE", x, b.Weights))
		}
		e.weights = Const(b.Weights).fit(x.Shape()).val.Data
	}
	if target.needs {
		target = target.Detach()
	}
	return b.of("BCE", e, x, target)
}

type bce struct {
	width   int
	pos     []float64
	weights []tensor.Float
}

func (b *bce) at(i int, x, t float64) (loss, dx, dt float64) {
	w, p := 1.0, 1.0
	if b.weights != nil {
		w = float64(b.weights[i])
	}
	if b.pos != nil {
		p = b.pos[i%b.width]
	}
	e := math.Exp(-math.Abs(x))
	soft := math.Log1p(e) + math.Max(-x, 0) // −log σ(x)
	down := e / (1 + e)                     // σ(−|x|)
	if x < 0 {
		down = 1 / (1 + e)
	}
	k := 1 + (p-1)*t
	return w * ((1-t)*x + k*soft), w * ((1 - t) - k*down), 0
}
