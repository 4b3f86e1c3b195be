package layers

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// MLP is a network of dense layers, for each row on its own:
//
//	h⁰ = x,   h^{k+1} = drop(act(norm(h^k·W_k + b_k))),   y = h^{K−1}·W + b
//
// x is N×Widths[0], dense or sparse, or has more axes, of which the last is
// multiplied; y has the last width there.
type MLP struct {
	Widths     []int           // of x, of each hidden layer, of y: two at least
	Activation grad.Activation `json:",omitempty"` // empty: ReLU
	Drop       float64         `json:",omitempty"` // dropout of the hidden layers
	BatchNorm  bool            `json:",omitempty"` // norm is a BatchNorm; else there is none
	NoBias     bool            `json:",omitempty"`

	Layers []*Linear    `json:"-"`
	Norms  []*BatchNorm `json:"-"` // of the hidden layers
}

// Init makes the Params, layer by layer, as [Linear] and [BatchNorm] do.
func (l *MLP) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	if len(l.Widths) < 2 {
		panic(&grad.TapeError{Op: "layers.MLP", Why: fmt.Sprintf("its Widths are %v, want those of x and of y at least", l.Widths)})
	}
	l.Layers, l.Norms = nil, nil
	for i, out := range l.Widths[1:] {
		l.Layers = append(l.Layers, &Linear{In: l.Widths[i], Out: out, NoBias: l.NoBias})
		l.Layers[i].Init(rng)
		if l.BatchNorm && i+2 < len(l.Widths) {
			l.Norms = append(l.Norms, &BatchNorm{Width: out})
			l.Norms[i].Init(rng)
		}
	}
}

// Forward returns the network's result for each row of x.
func (l *MLP) Forward(t *grad.Tape, x *grad.Var) *grad.Var {
	l.wantInit("layers.MLP")
	compose.WantRows("layers.MLP", x, l.Layers[0].W.Value.Dim(0), "the first of Widths")
	return l.forward(t, x)
}

// wantInit panics if there is nothing to apply, which would return x as it is.
func (l *MLP) wantInit(op string) {
	compose.WantMade(op, "layers", len(l.Layers) > 0)
	if l.BatchNorm && len(l.Norms) < len(l.Layers)-1 {
		compose.SetBefore(op, "BatchNorm")
	}
	for _, layer := range l.Layers {
		compose.WantInit(op, layer.W, layer.Out)
	}
}

func (l *MLP) forward(t *grad.Tape, x *grad.Var) *grad.Var {
	for i, layer := range l.Layers {
		if x = x.Linear(t.Use(layer.W), compose.Use(t, layer.B), l.fused(i)); i+1 < len(l.Layers) {
			x = l.between(t, x, i)
		}
	}
	return x
}

// after is Forward for the product of x with the first layer's matrix.
func (l *MLP) after(t *grad.Tape, z *grad.Var) *grad.Var {
	z = z.AddBias(compose.Use(t, l.Layers[0].B), l.fused(0))
	rest := *l
	rest.Layers = l.Layers[1:]
	if len(rest.Layers) == 0 {
		return z
	}
	z = l.between(t, z, 0)
	if l.BatchNorm {
		rest.Norms = l.Norms[1:]
	}
	return rest.forward(t, z)
}

// fused returns the activation that follows layer i at once.
func (l *MLP) fused(i int) grad.Activation {
	if l.BatchNorm || i+1 == len(l.Layers) {
		return grad.Identity
	}
	return cmp.Or(l.Activation, grad.ReLU)
}

// between is what follows hidden layer i, and its activation if that is fused.
func (l *MLP) between(t *grad.Tape, x *grad.Var, i int) *grad.Var {
	if l.BatchNorm {
		x = l.Norms[i].Forward(t, x).Activate(cmp.Or(l.Activation, grad.ReLU))
	}
	return t.Dropout(x, l.Drop)
}
