package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// BatchNorm takes the mean off each column, divides it by its standard deviation
// and lets the result have a scale and a place again:
//
//	y = (x − mean)/√(var + eps)·gain + bias
//
// of Ioffe and Szegedy, "Batch Normalization: Accelerating Deep Network Training
// by Reducing Internal Covariate Shift", ICML 2015. While t records, mean and
// var are those of the rows at hand; otherwise, or with Fixed, they are Mean and
// Variance, which every step of training moves towards those of its rows. They
// are not trained, but saved with the model. x is N×Width, or has more axes, all
// but the last of which are rows; so has y.
type BatchNorm struct {
	Width    int
	Eps      float64 `json:",omitempty"` // 0: 1e-5
	Momentum float64 `json:",omitempty"` // of the running statistics, the weight of a step; 0: 0.1
	NoAffine bool    `json:",omitempty"` // without gain and bias
	Fixed    bool    `json:",omitempty"` // use the running statistics while training too, and do not move them

	Gain     *grad.Param `json:"-"` // Width
	B        *grad.Param `json:"-"` // Width
	Mean     *grad.Param `json:"-"` // Width, frozen: the running mean
	Variance *grad.Param `json:"-"` // Width, frozen: the running variance, over n−1
}

// Init makes the Params: gain and running variance one, bias and running mean
// zero.
func (l *BatchNorm) Init(*rand.Rand) {
	compose.WantOptions(l)
	l.Gain, l.B = compose.GainAndBias(!l.NoAffine, l.Width)
	l.Variance, l.Mean = compose.GainAndBias(true, l.Width)
	l.Variance.Frozen, l.Mean.Frozen = true, true
}

// Forward returns the columns of x, normalised. While t records, the running
// statistics move at the end of its Backward.
func (l *BatchNorm) Forward(t *grad.Tape, x *grad.Var) *grad.Var {
	compose.WantParam("layers.BatchNorm", l.Mean, true)
	compose.WantParam("layers.BatchNorm", l.Gain, !l.NoAffine)
	compose.WantRows("layers.BatchNorm", x, l.Width, "Width")
	compose.WantDense("layers.BatchNorm", "x", x, "a norm would fill it: multiply it by a matrix first")
	run := &grad.RunningStats{Mean: l.Mean, Variance: l.Variance, Momentum: l.Momentum, Fixed: l.Fixed}
	return t.BatchNorm(x, grad.Affine{Gain: compose.Use(t, l.Gain), Bias: compose.Use(t, l.B)}, run, grad.Preset(l.Eps, 1e-5))
}
