package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
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
	compose.WantOptions(l)
	l.W = grad.Glorot(rng, l.In, l.Out)
	l.B = compose.Bias(!l.NoBias, l.Out)
}

// Forward returns xW + b.
func (l *Linear) Forward(t *grad.Tape, x *grad.Var) *grad.Var {
	compose.WantInit("layers.Linear", l.W, l.Out)
	compose.WantRows("layers.Linear", x, l.W.Value.Dim(0), "In")
	return compose.Affine(t, x, l.W, l.B)
}
