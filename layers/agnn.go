package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// AGNNConv propagates by attention that has one number to learn: a node attends
// to the in-neighbours whose features point where its own do.
//
//	y_v = act( Σ_u α_uv·x_u ),   α_uv = softmax_u( β·cos(x_u, x_v) )  [· weight_uv]
//
// of Thekumparampil, Wang, Oh and Li, "Attention-based Graph Neural Network for
// Semi-supervised Learning", 2018. The paper's graph has a loop at each node, which
// is up to the data. Src is NumSrc×F and Dst NumDst×F, dense; Weight E or E×1. The
// result is NumDst×F. A node without in-edges gets act(0). A row of zeros has the
// cosine 0 to every other.
//
// The logits are scalar products of rows of length one, so what runs is the
// attention of [DotGATConv].
type AGNNConv struct {
	Beta       float64         `json:",omitempty"` // where the training of β begins; 0: 1; none is [grad.Zero]
	Fixed      bool            `json:",omitempty"` // β is not trained
	Activation grad.Activation `json:",omitempty"`

	B *grad.Param `json:"-"` // β, one element; frozen with Fixed
}

// Init makes β.
func (l *AGNNConv) Init(*rand.Rand) {
	compose.WantOptions(l)
	l.B = grad.NewParam(1)
	l.B.Value.Fill(tensor.Float(grad.Preset(l.Beta, 1)))
	l.B.Frozen = l.Fixed
}

// Forward returns the layer's result for the features x of g's sources.
func (l *AGNNConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and other nodes as destinations,
// and the attention.
func (l *AGNNConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantParam("layers.AGNNConv", l.B, true)
	in.check(g, wants{op: "layers.AGNNConv", own: true})
	in.checkDense("layers.AGNNConv", "give it the product with a matrix, such as a Linear's result")
	unit := in.Src.L2Normalise()
	query := In{Src: unit}
	if in.Dst != nil {
		query.Dst = in.Dst.L2Normalise()
	}
	attention := message.Attention{Q: query.onDst(g, func(x *grad.Var) *grad.Var { return x.Mul(t.Use(l.B)) }), K: unit, Scale: 1}
	alpha := in.weigh(attention.Weights(t))
	y := message.UpdateAll(g, message.U(in.Src).Mul(alpha), message.Sum)
	return Out{Y: y.Activate(l.Activation), Attention: alpha}
}
