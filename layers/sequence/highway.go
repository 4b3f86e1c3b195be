package sequence

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/tensor"
)

// Highway lets a gate choose between a layer and its input.
//
//	y = T·a(x·W + b) + (1−T)·x      T = σ(x·W_T + b_T)
//
// of Srivastava, Greff and Schmidhuber, "Highway Networks", 2015: rows of words on their
// way into a recurrent layer, or between two. x is N×Width, dense, and so is the
// result; rows are by themselves, so it needs no graph. a is ReLU unless Activation names
// another. b_T begins below zero, so that at first x passes through.
type Highway struct {
	Width      int
	Activation grad.Activation `json:",omitempty"` // "" is ReLU
	GateBias   float64         `json:",omitempty"` // what Init makes of b_T; 0: −1

	W *grad.Param `json:"-"` // Width×2·Width, of a and T
	B *grad.Param `json:"-"` // 2·Width
}

// Init makes the Params: the weights uniform up to 1/√Width, b zero.
func (l *Highway) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.W, l.B = compose.Uniform(rng, l.Width, 2*l.Width, l.Width), grad.NewParam(2*l.Width)
	fill(l.B.Value.Data[l.Width:], tensor.Float(grad.Preset(l.GateBias, -1)))
}

// Forward returns the rows of x, each with what the gate lets the layer change.
func (l *Highway) Forward(t *grad.Tape, x *grad.Var) *grad.Var {
	n := l.Width
	compose.WantInit("sequence.Highway", l.W, 2*n)
	compose.WantRows("sequence.Highway", x, n, "Width")
	if x.IsSparse() {
		panic(&grad.TapeError{Op: "sequence.Highway", Why: "x is sparse, and a part of it is handed on; multiply it by a matrix first"})
	}
	a := l.Activation
	if a == "" {
		a = grad.ReLU
	}
	z := x.Linear(t.Use(l.W), t.Use(l.B), grad.Identity)
	gate := z.Columns(n, 2*n).Sigmoid()
	return x.Add(gate.Mul(z.Columns(0, n).Activate(a).Sub(x)))
}
