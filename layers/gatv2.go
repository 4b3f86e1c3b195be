package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// GATv2Conv is graph attention whose ranking of the neighbours depends on the
// node that asks: the vector a is applied after the LeakyReLU, not before. For
// each head
//
//	y_v = act( Σ_u α_uv·s_u  [+ residual_v] + b ),   s = xW + b_src,  d = xW_dst + b_dst
//	α_uv = softmax_u( a·LeakyReLU(s_u + d_v [+ W_e·x_uv]) )  [· weight_uv]
//
// of Brody, Alon and Yahav, "How Attentive are Graph Attention Networks?", ICLR
// 2022. Src is NumSrc×In, dense or sparse; Dst NumDst×InDst; Edge E×EdgeIn;
// Weight E or E×1. The result is NumDst×(Heads·Out), heads side by side, or with
// Average their mean, NumDst×Out. A node without in-edges gets
// act([residual +] b).
//
// A weight multiplies the normalised attention, after dropout, and nothing is
// normalised again. A linear residual has no bias of its own: B serves both. An
// edge's features are projected where its message is evaluated, so that no row of
// Heads·Out is stored for an edge; only of sparse ones it is.
type GATv2Conv struct {
	In         int             // width of the sources' features
	InDst      int             `json:",omitempty"` // width of the destinations'; 0: In
	Out        int             // width of a head
	Heads      int             // 0: 1
	EdgeIn     int             `json:",omitempty"` // width of the edges' features; 0: none
	Slope      float64         `json:",omitempty"` // of the LeakyReLU; 0: 0.2; that of a ReLU is [grad.Zero]
	FeatDrop   float64         `json:",omitempty"` // dropout of the nodes' features, those of the residual too
	AttnDrop   float64         `json:",omitempty"` // dropout of the normalised attention
	Shared     bool            `json:",omitempty"` // W and BSrc serve both sides
	Average    bool            `json:",omitempty"` // the mean of the heads, in place of all
	Residual   Residual        `json:",omitempty"` // of the destination's features
	NoBias     bool            `json:",omitempty"` // without b
	NoProjBias bool            `json:",omitempty"` // without b_src and b_dst
	Activation grad.Activation `json:",omitempty"`

	W     *grad.Param `json:"-"` // In×(Heads·Out)
	BSrc  *grad.Param `json:"-"`
	WDst  *grad.Param `json:"-"` // InDst×(Heads·Out)
	BDst  *grad.Param `json:"-"`
	WEdge *grad.Param `json:"-"` // EdgeIn×(Heads·Out)
	Attn  *grad.Param `json:"-"` // a, Heads×Out
	WRes  *grad.Param `json:"-"` // of a linear residual
	B     *grad.Param `json:"-"`
}

// Init makes the Params. Weights and attention vectors are Glorot uniform with
// gain 1, a matrix over its whole width and a over Heads and Out; biases are
// zero.
func (l *GATv2Conv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	heads, inDst := cmp.Or(l.Heads, 1), cmp.Or(l.InDst, l.In)
	width, out := heads*l.Out, compose.MergedWidth(heads, l.Out, l.Average)
	l.WDst, l.BDst, l.WEdge = nil, nil, nil
	l.W, l.BSrc = grad.Glorot(rng, l.In, width), compose.Bias(!l.NoProjBias, width)
	l.Attn = grad.Glorot(rng, heads, l.Out)
	if !l.Shared {
		l.WDst, l.BDst = grad.Glorot(rng, inDst, width), compose.Bias(!l.NoProjBias, width)
	}
	if l.EdgeIn > 0 {
		l.WEdge = grad.Glorot(rng, l.EdgeIn, width)
	}
	l.WRes = l.Residual.param("layers.GATv2Conv", rng, inDst, out)
	l.B = compose.Bias(!l.NoBias, out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *GATv2Conv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with everything that the layer can read and return.
func (l *GATv2Conv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.GATv2Conv", l.W, cmp.Or(l.Heads, 1)*l.Out)
	in.check(g, wants{op: "layers.GATv2Conv", own: true, src: l.W, dst: l.WDst, dstField: "InDst", edge: l.EdgeIn})
	in = in.drop(t, l.FeatDrop)
	fs, fd := l.project(t, g, in)
	alpha := l.attend(t, in, fs, fd)
	y := message.UpdateAll(g, message.U(fs).Mul(alpha), message.Sum)
	y = l.Residual.add(t, g, in, skip{"layers.GATv2Conv", compose.MergeHeads(y, l.Average), l.WRes})
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation), Attention: alpha}
}

// attend returns the attention of each edge, one number a head. No E×H×D array
// is made, nor of dense features of the edges.
func (l *GATv2Conv) attend(t *grad.Tape, in In, fs, fd *grad.Var) message.Msg {
	sum := message.UAddV(fs, fd) // H×D an edge
	if in.Edge != nil {
		sum = sum.Add(l.edges(t, in.Edge))
	}
	score := sum.LeakyReLU(grad.Preset(l.Slope, 0.2)).Dot(message.W(t.Use(l.Attn)))
	return in.weigh(score.Softmax().Dropout(t, l.AttnDrop))
}

// edges returns W_e·x_uv.
func (l *GATv2Conv) edges(t *grad.Tape, x *grad.Var) message.Msg {
	heads, w := cmp.Or(l.Heads, 1), t.Use(l.WEdge)
	if x.IsSparse() {
		return message.E(compose.SplitHeads(x.MatMul(w), heads, l.Out))
	}
	return message.E(x).MatMul(w.Reshape(l.EdgeIn, heads, l.Out))
}

// project returns the projected features of sources and destinations, N×H×D.
func (l *GATv2Conv) project(t *grad.Tape, g *graph.Graph, in In) (src, dst *grad.Var) {
	heads := cmp.Or(l.Heads, 1)
	src = compose.SplitHeads(compose.Affine(t, in.Src, l.W, l.BSrc), heads, l.Out)
	if l.Shared && in.Dst == nil {
		return src, message.OnDst(g, src)
	}
	w, b := l.WDst, l.BDst
	if l.Shared {
		w, b = l.W, l.BSrc
	}
	dst = in.onDst(g, func(x *grad.Var) *grad.Var { return compose.Affine(t, x, w, b) })
	return src, compose.SplitHeads(dst, heads, l.Out)
}
