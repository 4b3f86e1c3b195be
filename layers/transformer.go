package layers

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
)

// TransformerConv is the self-attention of a Transformer in which a node attends
// to its in-neighbours only. For each head
//
//	m_v = Σ_u α_uv·(v_u [+ W_e·x_uv]),   r_v = x_v·W_root + b
//	α_uv = softmax_u( q_v·(k_u [+ W_e·x_uv])/√Out )  [· weight_uv]
//	y_v = act( m_v + r_v ),   or with Gate act( β_v·r_v + (1−β_v)·m_v ),  β_v = σ(w·[m_v ‖ r_v ‖ m_v−r_v])
//
// with q, k and v each a matrix and a bias, of Shi and others, "Masked Label
// Prediction: Unified Message Passing Model for Semi-Supervised Classification",
// IJCAI 2021. Src is NumSrc×In, dense or sparse; Dst NumDst×InDst; Edge
// E×EdgeIn; Weight E or E×1. The result is NumDst×(Heads·Out), heads side by
// side, or with Average m is their mean and the result NumDst×Out. Of a node
// without in-edges m is zero.
//
// A weight multiplies the normalised attention, after dropout, and nothing is
// normalised again. Features of edges are never projected: W_e is moved to the
// queries and to the sums, which are nodes' rows. Of the edges only α is stored
// then, one number a head.
type TransformerConv struct {
	In         int             // width of the sources' features
	InDst      int             `json:",omitempty"` // width of the destinations'; 0: In
	Out        int             // width of a head
	Heads      int             // 0: 1
	EdgeIn     int             `json:",omitempty"` // width of the edges' features; 0: none
	FeatDrop   float64         `json:",omitempty"` // dropout of the nodes' features
	AttnDrop   float64         `json:",omitempty"` // dropout of the normalised attention
	Average    bool            `json:",omitempty"` // the mean of the heads, in place of all
	Gate       bool            `json:",omitempty"` // β between the message and the root
	NoRoot     bool            `json:",omitempty"` // without r, and so without a gate
	NoBias     bool            `json:",omitempty"` // without any bias
	Activation grad.Activation `json:",omitempty"`

	WQuery *grad.Param `json:"-"` // InDst×(Heads·Out)
	BQuery *grad.Param `json:"-"`
	WKey   *grad.Param `json:"-"` // In×(Heads·Out)
	BKey   *grad.Param `json:"-"`
	WValue *grad.Param `json:"-"` // In×(Heads·Out)
	BValue *grad.Param `json:"-"`
	WEdge  *grad.Param `json:"-"` // EdgeIn×(Heads·Out)
	WRoot  *grad.Param `json:"-"` // InDst×(Heads·Out), with Average InDst×Out
	B      *grad.Param `json:"-"` // of the root
	WGate  *grad.Param `json:"-"` // w, 3×(Heads·Out), with Average 3×Out
}

// Init makes the Params: matrices by Glorot's uniform distribution over their
// whole width, biases zero.
func (l *TransformerConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	heads, inDst := cmp.Or(l.Heads, 1), cmp.Or(l.InDst, l.In)
	width, out := heads*l.Out, compose.MergedWidth(heads, l.Out, l.Average)
	l.WQuery, l.BQuery = grad.Glorot(rng, inDst, width), compose.Bias(!l.NoBias, width)
	l.WKey, l.BKey = grad.Glorot(rng, l.In, width), compose.Bias(!l.NoBias, width)
	l.WValue, l.BValue = grad.Glorot(rng, l.In, width), compose.Bias(!l.NoBias, width)
	l.WEdge, l.WRoot, l.B, l.WGate = nil, nil, nil, nil
	if l.EdgeIn > 0 {
		l.WEdge = grad.Glorot(rng, l.EdgeIn, width)
	}
	if l.NoRoot {
		return
	}
	l.WRoot, l.B = grad.Glorot(rng, inDst, out), compose.Bias(!l.NoBias, out)
	if l.Gate {
		l.WGate = grad.NewParam(3, out)
		l.WGate.Value.GlorotUniform(rng, 3*out, 1, 1)
	}
}

// Forward returns the layer's result for the features x of g's sources.
func (l *TransformerConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with everything that the layer can read and return.
func (l *TransformerConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	compose.WantInit("layers.TransformerConv", l.WValue, cmp.Or(l.Heads, 1)*l.Out)
	in.check(g, wants{op: "layers.TransformerConv", own: true, src: l.WValue, dst: l.WQuery, dstField: "InDst", edge: l.EdgeIn})
	in = in.drop(t, l.FeatDrop)
	heads := cmp.Or(l.Heads, 1)
	value := compose.SplitHeads(compose.Affine(t, in.Src, l.WValue, l.BValue), heads, l.Out)
	alpha := l.attend(t, g, in)
	if in.Edge != nil { // it is read twice
		alpha = message.E(message.ApplyEdges(g, alpha))
	}
	var root *grad.Var
	if !l.NoRoot { // before the sum, which adds it on its way
		root = in.onDst(g, func(x *grad.Var) *grad.Var { return compose.Affine(t, x, l.WRoot, l.B) })
	}
	y := message.UpdateAll(g, message.U(value).Mul(alpha), message.Sum)
	if in.Edge != nil {
		sums := message.UpdateAll(g, l.edges(in).Mul(alpha), message.Sum) // NumDst×H×EdgeIn
		y = y.Add(compose.SplitHeads(compose.TimesHeads(sums, t.Use(l.WEdge)), heads, l.Out))
	}
	y = compose.MergeHeads(y, l.Average)
	if root != nil {
		y = l.join(t, y, root)
	}
	return Out{Y: y.Activate(l.Activation), Attention: alpha}
}

// attend returns the attention of each edge, one number a head.
func (l *TransformerConv) attend(t *grad.Tape, g *graph.Graph, in In) message.Msg {
	heads := cmp.Or(l.Heads, 1)
	key := compose.SplitHeads(compose.Affine(t, in.Src, l.WKey, l.BKey), heads, l.Out)
	query := compose.SplitHeads(in.onDst(g, func(x *grad.Var) *grad.Var { return compose.Affine(t, x, l.WQuery, l.BQuery) }), heads, l.Out)
	score := message.UDotV(key, query)
	if in.Edge != nil {
		moved := compose.SplitHeads(compose.TimesHeadsT(query, t.Use(l.WEdge)), heads, l.EdgeIn) // W_eᵀ·q_v
		score = score.Add(l.edges(in).Dot(message.V(moved)))
	}
	return in.weigh(score.Scale(1/math.Sqrt(float64(l.Out))).Softmax().Dropout(t, l.AttnDrop))
}

// edges returns the features of the edges, the same for every head.
func (l *TransformerConv) edges(in In) message.Msg {
	return message.E(compose.SplitHeads(in.Edge, 1, l.EdgeIn))
}

// join adds the root r to the message m, through the gate if there is one:
// w·[m ‖ r ‖ m−r] is taken as m·(w_1+w_3) + r·(w_2−w_3).
func (l *TransformerConv) join(t *grad.Tape, m, r *grad.Var) *grad.Var {
	if !l.Gate {
		return m.Add(r)
	}
	w := t.Use(l.WGate)
	w1, w2, w3 := w.RowRange(0, 1), w.RowRange(1, 2), w.RowRange(2, 3)
	beta := m.Dot(w1.Add(w3)).Add(r.Dot(w2.Sub(w3))).Sigmoid()
	return r.Sub(m).Mul(beta).Add(m)
}
