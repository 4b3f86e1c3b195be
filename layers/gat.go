package layers

import (
	"cmp"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// GATConv is graph attention: each node takes the mean of its in-neighbours,
// weighted by how much it attends to each. For each head
//
//	y_v = act( Σ_u α_uv·Wx_u  [+ residual_v] + b )
//	α_uv = softmax_u( LeakyReLU(a_l·Wx_u + a_r·Wx_v [+ a_e·W_e·x_uv]) )  [· weight_uv]
//
// of Veličković et al., "Graph Attention Networks", ICLR 2018. Src is
// NumSrc×In, dense or sparse; Dst NumDst×InDst; Edge E×EdgeIn; Weight E or E×1.
// The result is NumDst×(Heads·Out), heads side by side, or with Average their
// mean, NumDst×Out. A node without in-edges gets act([residual +] b).
//
// A weight multiplies the normalised attention, after dropout, and nothing is
// normalised again. A linear residual has no bias of its own: B serves both.
type GATConv struct {
	In         int             // width of the sources' features
	InDst      int             `json:",omitempty"` // width of the destinations'; 0: W serves both sides
	Out        int             // width of a head
	Heads      int             // 0: 1
	EdgeIn     int             `json:",omitempty"` // width of the edges' features; 0: none
	Slope      float64         `json:",omitempty"` // of the LeakyReLU; 0: 0.2; that of a ReLU is [grad.Zero]
	FeatDrop   float64         `json:",omitempty"` // dropout of the nodes' features, those of the residual too
	AttnDrop   float64         `json:",omitempty"` // dropout of the normalised attention
	ValueDrop  float64         `json:",omitempty"` // dropout of Wx_u where it is summed, as the authors' code has it; not in the logits
	Average    bool            `json:",omitempty"` // the mean of the heads, in place of all
	Residual   Residual        `json:",omitempty"` // of the destination's features
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W        *grad.Param `json:"-"` // In×(Heads·Out)
	WDst     *grad.Param `json:"-"` // InDst×(Heads·Out)
	WEdge    *grad.Param `json:"-"` // EdgeIn×(Heads·Out)
	AttnL    *grad.Param `json:"-"` // a_l, Heads×Out
	AttnR    *grad.Param `json:"-"` // a_r, Heads×Out
	AttnEdge *grad.Param `json:"-"` // a_e, Heads×Out
	WRes     *grad.Param `json:"-"` // of a linear residual
	B        *grad.Param `json:"-"`
}

// Init makes the Params. Weights and attention vectors are Glorot uniform with
// gain 1, a matrix over its whole width and a_l, a_r, a_e over Heads and Out;
// the bias is zero.
func (l *GATConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	heads, inDst := cmp.Or(l.Heads, 1), cmp.Or(l.InDst, l.In)
	width, out := heads*l.Out, compose.MergedWidth(heads, l.Out, l.Average)
	l.WDst, l.WEdge, l.AttnEdge = nil, nil, nil
	l.W = grad.Glorot(rng, l.In, width)
	l.AttnL, l.AttnR = grad.Glorot(rng, heads, l.Out), grad.Glorot(rng, heads, l.Out)
	if l.InDst > 0 {
		l.WDst = grad.Glorot(rng, l.InDst, width)
	}
	if l.EdgeIn > 0 {
		l.WEdge, l.AttnEdge = grad.Glorot(rng, l.EdgeIn, width), grad.Glorot(rng, heads, l.Out)
	}
	l.WRes = l.Residual.param("layers.GATConv", rng, inDst, out)
	l.B = compose.Bias(!l.NoBias, out)
}

// Forward returns the layer's result for the features x of g's sources.
func (l *GATConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with everything that the layer can read and return.
func (l *GATConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.GATConv", l.W, cmp.Or(l.Heads, 1)*l.Out)
	in.check(g, wants{op: "layers.GATConv", own: true, src: l.W, dst: l.WDst, dstField: "InDst", edge: l.EdgeIn})
	in = in.drop(t, l.FeatDrop)
	if l.sumsFirst(t, g, in) {
		return l.sumFirst(t, g, in)
	}
	ft, ftDst := headProjection{l.W, l.WDst, cmp.Or(l.Heads, 1), l.Out}.of(t, g, in)
	alpha := l.attend(t, in, ft, ftDst)
	y := message.UpdateAll(g, message.U(t.Dropout(ft, l.ValueDrop)).Mul(alpha), message.Sum)
	return l.end(t, g, in, y, alpha)
}

// end returns the result for what the heads have summed, N×H×D.
func (l *GATConv) end(t *grad.Tape, g *graph.Graph, in In, y *grad.Var, alpha message.Msg) Out {
	y = l.Residual.add(t, g, in, skip{"layers.GATConv", compose.MergeHeads(y, l.Average), l.WRes})
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation), Attention: alpha}
}

// attend returns the attention of each edge, one number a head.
func (l *GATConv) attend(t *grad.Tape, in In, ft, ftDst *grad.Var) message.Msg {
	el := ft.Dot(t.Use(l.AttnL))    // NumSrc×H×1, left attention
	er := ftDst.Dot(t.Use(l.AttnR)) // NumDst×H×1, right attention
	return l.weights(t, in, message.UAddV(el, er))
}

// weights returns the attention for the nodes' part of the scores.
func (l *GATConv) weights(t *grad.Tape, in In, score message.Msg) message.Msg {
	if in.Edge != nil {
		score = score.Add(message.E(l.edgeScore(t, in.Edge)))
	}
	return in.weigh(score.LeakyReLU(grad.Preset(l.Slope, 0.2)).Softmax().Dropout(t, l.AttnDrop))
}

// headProjection is Wx of the sources and of the destinations, of GATConv and DotGATConv.
type headProjection struct {
	w, wDst    *grad.Param // wDst nil: w serves both sides
	heads, out int
}

// of returns the projected features of sources and destinations, N×H×D.
func (p headProjection) of(t *grad.Tape, g *graph.Graph, in In) (src, dst *grad.Var) {
	src = in.Src.Project(t.Use(p.w), p.heads)
	if in.Dst == nil && p.wDst == nil {
		return src, message.OnDst(g, src)
	}
	w := p.w
	if p.wDst != nil {
		w = p.wDst
	}
	dst = in.onDst(g, func(x *grad.Var) *grad.Var { return x.MatMul(t.Use(w)) })
	return src, compose.SplitHeads(dst, p.heads, p.out)
}

// edgeScore returns a_e·W_e·x for each edge, E×H×1. It is linear in x, so the
// vector is multiplied into the matrix first and no E×H×D array is made.
func (l *GATConv) edgeScore(t *grad.Tape, x *grad.Var) *grad.Var {
	heads := cmp.Or(l.Heads, 1)
	w := compose.SplitHeads(t.Use(l.WEdge), heads, l.Out).Dot(t.Use(l.AttnEdge)) // EdgeIn×H×1
	return compose.SplitHeads(x.MatMul(w.Reshape(l.EdgeIn, heads)), heads, 1)
}
