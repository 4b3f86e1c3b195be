package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// LayerNorm takes the mean off each row, divides it by its standard deviation
// and lets the result have a scale and a place again:
//
//	y = (x − mean)/√(var + eps)·gain + bias,   var = mean((x − mean)²)
//
// of Ba, Kiros and Hinton, "Layer Normalization", 2016. x is N×Width, or has
// more axes, of which the last is a row; so has y. A row of equal elements
// becomes bias.
type LayerNorm struct {
	Width    int
	Eps      float64 `json:",omitempty"` // 0: 1e-5
	NoAffine bool    `json:",omitempty"` // without gain and bias

	Gain *grad.Param `json:"-"` // Width
	B    *grad.Param `json:"-"` // Width
}

// Init makes the Params: the gain one, the bias zero.
func (l *LayerNorm) Init(*rand.Rand) {
	compose.WantOptions(l)
	l.Gain, l.B = compose.GainAndBias(!l.NoAffine, l.Width)
}

// Forward returns the rows of x, normalised.
func (l *LayerNorm) Forward(t *grad.Tape, x *grad.Var) *grad.Var {
	compose.WantParam("layers.LayerNorm", l.Gain, !l.NoAffine)
	compose.WantRows("layers.LayerNorm", x, l.Width, "Width")
	compose.WantDense("layers.LayerNorm", "x", x, "a norm would fill it: multiply it by a matrix first")
	return x.LayerNorm(compose.Use(t, l.Gain), compose.Use(t, l.B), grad.Preset(l.Eps, 1e-5))
}
