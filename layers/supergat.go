package layers

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers/internal/compose"
	"github.com/edgewise-ml/edgewise/message"
	"github.com/edgewise-ml/edgewise/tensor"
)

// SuperGATConv is graph attention that is taught, beside its task, to tell edges
// from pairs of nodes without one. For each head, with p_uv = Wx_u·Wx_v,
//
//	y_v = act( Σ_u softmax_u( LeakyReLU(e_uv) )·Wx_u + b )
//	e_uv = (a_l·Wx_u + a_r·Wx_v)·σ(p_uv)      or, with ScaledDot,   e_uv = p_uv/√Out
//
// of Kim and Oh, "How to Find Your Friendly Neighborhood: Graph Attention Design
// with Self-Supervision", ICLR 2021: its MX and its SD. [SuperGATConv.Loss] is what
// teaches. Src is NumSrc×In, dense or sparse; Dst NumDst×In; Weight E or E×1
// multiplies the normalised attention. The result is NumDst×(Heads·Out), heads side
// by side, or with Average their mean, NumDst×Out. A node without in-edges gets
// act(b). The attention runs in tiles.
type SuperGATConv struct {
	In         int
	Out        int             // width of a head
	Heads      int             `json:",omitempty"` // 0: 1
	ScaledDot  bool            `json:",omitempty"` // SD in place of MX
	Slope      float64         `json:",omitempty"` // of the LeakyReLU; 0: 0.2; that of a ReLU is [grad.Zero]
	FeatDrop   float64         `json:",omitempty"` // dropout of the nodes' features
	AttnDrop   float64         `json:",omitempty"` // dropout of the normalised attention
	Average    bool            `json:",omitempty"` // the mean of the heads, in place of all
	NoBias     bool            `json:",omitempty"`
	Activation grad.Activation `json:",omitempty"`

	W     *grad.Param `json:"-"` // In×(Heads·Out)
	AttnL *grad.Param `json:"-"` // a_l, Heads×Out; nil with ScaledDot
	AttnR *grad.Param `json:"-"` // a_r, Heads×Out; nil with ScaledDot
	B     *grad.Param `json:"-"`
}

// Init makes the Params: weights by Glorot's uniform distribution, the bias zero.
func (l *SuperGATConv) Init(rng *rand.Rand) {
	compose.WantOptions(l)
	heads := cmp.Or(l.Heads, 1)
	l.W, l.AttnL, l.AttnR = grad.Glorot(rng, l.In, heads*l.Out), nil, nil
	if !l.ScaledDot {
		l.AttnL, l.AttnR = grad.Glorot(rng, heads, l.Out), grad.Glorot(rng, heads, l.Out)
	}
	l.B = compose.Bias(!l.NoBias, compose.MergedWidth(heads, l.Out, l.Average))
}

// Forward returns the layer's result for the features x of g's sources.
func (l *SuperGATConv) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return l.Apply(t, g, In{Src: x}).Y
}

// Apply is Forward with weights of the edges and other nodes as destinations,
// and the attention.
func (l *SuperGATConv) Apply(t *grad.Tape, g *graph.Graph, in In) Out {
	l.check(g, in)
	ft, ftDst := l.project(t, g, in.drop(t, l.FeatDrop))
	score := message.UDotV(ft, ftDst)
	if l.ScaledDot {
		score = score.Scale(1 / math.Sqrt(float64(l.Out)))
	} else {
		score = message.UAddV(ft.Dot(t.Use(l.AttnL)), ftDst.Dot(t.Use(l.AttnR))).Mul(score.Sigmoid())
	}
	alpha := in.weigh(score.LeakyReLU(grad.Preset(l.Slope, 0.2)).Softmax().Dropout(t, l.AttnDrop))
	y := compose.MergeHeads(message.UpdateAll(g, message.U(ft).Mul(alpha), message.Sum), l.Average)
	return Out{Y: y.AddBias(compose.Use(t, l.B), l.Activation), Attention: alpha}
}

// Loss is the self-supervision: the mean binary cross-entropy of telling the edges
// of g from those of negatives, which are pairs of g's nodes without an edge, by the
// mean over the heads of p_uv, or with ScaledDot of p_uv/√Out. It is added to the loss
// of the task, times a factor. Which edges and how many negatives of each are drawn
// for a step is up to the caller.
func (l *SuperGATConv) Loss(t *grad.Tape, g, negatives *graph.Graph, x *grad.Var) *grad.Var {
	compose.WantGraph("layers.SuperGATConv", g)
	compose.WantGraph("layers.SuperGATConv", negatives)
	var logits []*grad.Var
	target := tensor.New(g.NumEdges()+negatives.NumEdges(), 1)
	for i := range g.NumEdges() {
		target.Data[i] = 1
	}
	for _, pairs := range []*graph.Graph{g, negatives} {
		in := In{Src: x}
		l.check(pairs, in)
		ft, ftDst := l.project(t, pairs, in)
		p := message.ApplyEdges(pairs, message.UDotV(ft, ftDst))
		if l.ScaledDot {
			p = p.Scale(1 / math.Sqrt(float64(l.Out)))
		}
		logits = append(logits, compose.MergeHeads(p, true))
	}
	return grad.ConcatAxis(0, logits...).Reshape(len(target.Data), 1).BCE(grad.Const(target))
}

func (l *SuperGATConv) check(g *graph.Graph, in In) {
	compose.WantInit("layers.SuperGATConv", l.W, cmp.Or(l.Heads, 1)*l.Out)
	in.check(g, wants{op: "layers.SuperGATConv", own: true, src: l.W, dst: l.W, dstField: "In"})
}

func (l *SuperGATConv) project(t *grad.Tape, g *graph.Graph, in In) (src, dst *grad.Var) {
	return headProjection{l.W, nil, cmp.Or(l.Heads, 1), l.Out}.of(t, g, in)
}
