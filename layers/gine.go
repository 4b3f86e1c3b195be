package layers

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// GINEConv is a [GINConv] whose messages know their edges: the convolution for
// molecules, whose bonds have kinds.
//
//	y_v = act( Net( (1+ε)·x_v + Σ_u weight_uv·ReLU(x_u + e_uv) ) ),   e = Edge [·W_e + b_e]
//
// of Hu, Liu, Gomes, Zitnik, Liang, Pande and Leskovec, "Strategies for Pre-training
// Graph Neural Networks", ICLR 2020. Src is NumSrc×Net.Widths[0], dense; Dst NumDst
// wide as Src; Edge as wide, or E×EdgeIn where that is given; Weight E or E×1. The
// result is NumDst rows of Net's last width. A node without in-edges aggregates
// zero. The message runs in tiles, W_e inside it, and is stored for no edge.
type GINEConv struct {
	Net        MLP
	EdgeIn     int             `json:",omitempty"` // width of the edges' features; 0: as wide as x, without W_e
	Eps        float64         `json:",omitempty"` // ε, or with TrainEps where its training begins
	TrainEps   bool            `json:",omitempty"` // ε is a Param
	Activation grad.Activation `json:",omitempty"` // of the result

	WEdge   *grad.Param `json:"-"` // EdgeIn×Net.Widths[0]
	BEdge   *grad.Param `json:"-"` // Net.Widths[0]
	Epsilon *grad.Param `json:"-"` // ε, one element; nil without TrainEps
}

// Init makes the Params of Net, ε, and W_e by Glorot's uniform distribution.
func (l *GINEConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	l.Net.Init(rng)
	l.Epsilon, l.WEdge, l.BEdge = nil, nil, nil
	if l.TrainEps {
		l.Epsilon = grad.NewParam(1)
		l.Epsilon.Value.Fill(tensor.Float(l.Eps))
	}
	if l.EdgeIn > 0 {
		l.WEdge, l.BEdge = grad.Glorot(rng, l.EdgeIn, l.Net.Widths[0]), compose.Bias(true, l.Net.Widths[0])
	}
}

// Forward is Apply for a layer that has no features of edges to read: it panics,
// since this one has. All layers on a graph have it.
func (l *GINEConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply returns the layer's result. There is no attention.
func (l *GINEConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	l.Net.wantInit("layers.GINEConv")
	width := l.Net.Layers[0].W.Value.Dim(0)
	edge := width
	if l.EdgeIn > 0 {
		edge = l.EdgeIn
	}
	in.check(g, wants{op: "layers.GINEConv", own: true, src: l.Net.Layers[0].W, srcField: "the first of Net.Widths", edge: edge})
	in.checkDense("layers.GINEConv", "give it the product with a matrix, such as a Linear's result")
	m := message.E(in.Edge)
	src := in.Src
	if l.WEdge != nil {
		m, src = m.MatMul(t.Use(l.WEdge)), src.Add(t.Use(l.BEdge))
	}
	m = in.weigh(message.U(src).Add(m).ReLU())
	own := scaledOwn(t, in.onDst(g, func(x *grad.Var) *grad.Var { return x }), l.Epsilon, l.Eps)
	return Out{Y: l.Net.Forward(t, message.AddAll(own, g, m)).Activate(l.Activation)}
}
