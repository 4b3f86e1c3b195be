package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// DotGATConv is graph attention by scalar products: a node attends to the
// in-neighbours whose projection points where its own does. For each head
//
//	y_v = act( Σ_u α_uv·Wx_u ),   α_uv = softmax_u( Wx_u·Wx_v/√Out )  [· weight_uv]
//
// after Luong, Pham and Manning, "Effective Approaches to Attention-based Neural
// Machine Translation", EMNLP 2015, with the scale of Vaswani and others, 2017.
// Src is NumSrc×In, dense or sparse; Dst NumDst×InDst; Weight E or E×1. The
// result is NumDst×(Heads·Out), heads side by side, or with Average their mean,
// NumDst×Out. A node without in-edges gets act(0).
//
// A weight multiplies the normalised attention, after dropout, and nothing is
// normalised again.
type DotGATConv struct {
	In         int             // width of the sources' features
	InDst      int             `json:",omitempty"` // width of the destinations'; 0: W serves both sides
	Out        int             // width of a head
	Heads      int             // 0: 1
	FeatDrop   float64         `json:",omitempty"` // dropout of the nodes' features
	AttnDrop   float64         `json:",omitempty"` // dropout of the normalised attention
	Average    bool            `json:",omitempty"` // the mean of the heads, in place of all
	Activation grad.Activation `json:",omitempty"`

	W    *grad.Param `json:"-"` // In×(Heads·Out)
	WDst *grad.Param `json:"-"` // InDst×(Heads·Out)
}

// Init makes the Params, by Glorot's uniform distribution over the whole width.
func (l *DotGATConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	width := cmp.Or(l.Heads, 1) * l.Out
	l.W, l.WDst = grad.Glorot(rng, l.In, width), nil
	if l.InDst > 0 {
		l.WDst = grad.Glorot(rng, l.InDst, width)
	}
}

// Forward returns the layer's result for the features x of g's sources.
func (l *DotGATConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and other nodes as destinations,
// and the attention.
func (l *DotGATConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.DotGATConv", l.W, cmp.Or(l.Heads, 1)*l.Out)
	in.check(g, wants{op: "layers.DotGATConv", own: true, src: l.W, dst: l.WDst, dstField: "InDst"})
	in = in.drop(t, l.FeatDrop)
	ft, ftDst := headProjection{l.W, l.WDst, cmp.Or(l.Heads, 1), l.Out}.of(t, g, in)
	attention := message.Attention{Q: ftDst, K: ft, Drop: l.AttnDrop}
	alpha := in.weigh(attention.Weights(t))
	y := compose.MergeHeads(message.UpdateAll(g, message.U(ft).Mul(alpha), message.Sum), l.Average)
	return Out{Y: y.Activate(l.Activation), Attention: alpha}
}
