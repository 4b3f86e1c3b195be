package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
)

// GraphNorm normalises each column over the nodes of each graph of a batch, and
// learns how much of the mean is taken off:
//
//	o = x − shift·mean,   y = o/√(mean(o²) + eps)·gain + bias
//
// of Cai, Luo, Xu, He, Liu and Wang, "GraphNorm: A Principled Approach to Accelerating
// Graph Neural Network Training", ICML 2021. x is NumDst×Width: what a convolution on
// g returns; so has y. A graph of one node keeps (1 − shift)·x, divided by its size.
// It runs as one operation, without messages.
type GraphNorm struct {
	Width int
	Eps   float64 `json:",omitempty"` // 0: 1e-5

	Gain  *grad.Param `json:"-"` // Width
	B     *grad.Param `json:"-"` // Width
	Shift *grad.Param `json:"-"` // Width
}

// Init makes the Params: gain and shift one, bias zero.
func (l *GraphNorm) Init(*rand.Rand) {
	compose.WantOptions(l)
	l.Gain, l.B = compose.GainAndBias(true, l.Width)
	l.Shift, _ = compose.GainAndBias(true, l.Width)
}

// Forward returns the rows of x, normalised over each member of g.
func (l *GraphNorm) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	compose.WantParam("layers.GraphNorm", l.Gain, true)
	wantDst("layers.GraphNorm", g, x)
	compose.WantRows("layers.GraphNorm", x, l.Width, "Width")
	return x.GraphNorm(g.DstOffsets(), grad.Affine{Gain: t.Use(l.Gain), Bias: t.Use(l.B), Shift: t.Use(l.Shift)}, grad.Preset(l.Eps, 1e-5))
}

// wantDst panics unless x has a row for each destination of g.
func wantDst(op string, g *graph.Graph, x *grad.Var) {
	compose.WantGraph(op, g)
	compose.WantVar(op, "x", x)
	wants{op: op}.rows("x", x, g.NumDst(), "destinations")
	compose.WantMatrix(op, "x", x)
	compose.WantDense(op, "x", x, "a norm would fill it: multiply it by a matrix first")
}
