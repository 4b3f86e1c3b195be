package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
)

// Linear multiplies each row by a matrix:
//
//	y = xW + b
//
// x is N×In, dense or sparse, or has more axes, of which the last is
// multiplied. y is N×Out.
type Linear struct {
	In, Out int
	NoBias  bool

	W *grad.Param `json:"-"` // In×Out
	B *grad.Param `json:"-"` // Out; nil with NoBias
}

// Init makes the Params: W by Glorot's uniform distribution, b zero.
func (l *Linear) Init(rng *rand.Rand) {
	l.W = glorot(rng, l.In, l.Out)
	l.B = bias(!l.NoBias, l.Out)
}

// Forward returns xW + b.
func (l *Linear) Forward(t *grad.Tape, x *grad.Var) *grad.Var {
	wantInit("layers.Linear", l.W, l.Out)
	wantRows("layers.Linear", x, l.W.Value.Dim(0), "In")
	return affine(t, x, l.W, l.B)
}

// glorot returns weights from U(−b, b) with b = √(6/(in+out)).
func glorot(rng *rand.Rand, in, out int) *grad.Param {
	p := grad.NewParam(in, out)
	p.Value.GlorotUniform(rng, in, out, 1)
	return p
}

// bias returns n zeros, or nil if there is to be no bias.
func bias(wanted bool, n int) *grad.Param {
	if !wanted {
		return nil
	}
	return grad.NewParam(n)
}

// affine returns xW + b, or xW if there is no b.
func affine(t *grad.Tape, x *grad.Var, w, b *grad.Param) *grad.Var {
	if b == nil {
		return x.MatMul(t.Use(w))
	}
	return x.Linear(t.Use(w), t.Use(b), grad.Identity)
}

// finish returns a(y + b), or a(y) if there is no b.
func finish(t *grad.Tape, y *grad.Var, b *grad.Param, a grad.Activation) *grad.Var {
	return y.AddBias(use(t, b), a)
}

// use returns p's value on t, or nil if there is no p.
func use(t *grad.Tape, p *grad.Param) *grad.Var {
	if p == nil {
		return nil
	}
	return t.Use(p)
}
