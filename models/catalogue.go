package models

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// tagLayer looks two hops far.
type tagLayer struct {
	layers.TAGConv
	drop float64
}

func newTAG(d *design, s size) layer {
	return &tagLayer{layers.TAGConv{In: s.in, Out: s.out, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *tagLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	conv := l.TAGConv
	conv.Norm = h.norm()
	return conv.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Weight})
}

// chebLayer has three terms, so it looks two hops far.
type chebLayer struct {
	layers.ChebConv
	drop float64
}

func newCheb(d *design, s size) layer {
	return &chebLayer{layers.ChebConv{In: s.in, Out: s.out, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *chebLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	conv := l.ChebConv
	conv.Norm = h.norm()
	return conv.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Weight})
}

// gcn2Depth is how many convolutions a GCNII has. Its paper has 64 on Cora, which take
// four times as long.
const gcn2Depth = 16

// gcn2Layer is a dense layer; after the first one stand all convolutions.
type gcn2Layer struct {
	Dense denseLayer
	Deep  []*layers.GCN2Conv
	End   *denseLayer // of a network of one layer
	drop  float64
}

func newGCN2(d *design, s size) layer {
	l := &gcn2Layer{Dense: denseLayer{layers.Linear{In: s.in, Out: s.out}, d.Dropout, inner(grad.ReLU, s)}, drop: d.Dropout}
	if !s.first {
		return l
	}
	if s.last {
		l.Dense.Out, l.Dense.activation = d.Hidden, grad.ReLU
		l.End = &denseLayer{layers.Linear{In: d.Hidden, Out: s.out}, d.Dropout, ""}
	}
	for i := range gcn2Depth {
		l.Deep = append(l.Deep, &layers.GCN2Conv{Width: l.Dense.Out, Layer: i + 1, NoBias: true, Activation: grad.ReLU})
	}
	return l
}

// Init makes the Params of all of them.
func (l *gcn2Layer) Init(rng *rand.Rand) {
	l.Dense.Init(rng)
	for _, conv := range l.Deep {
		conv.Init(rng)
	}
	if l.End != nil {
		l.End.Init(rng)
	}
}

func (l *gcn2Layer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	first := l.Dense.run(t, h, x).Y
	y := first
	for _, layer := range l.Deep {
		conv := *layer
		conv.Norm = h.norm()
		y = conv.Apply(t, h.Graph, layers.In{Src: t.Dropout(y, l.drop), Dst: first, Weight: h.Weight}).Y
	}
	if l.End != nil {
		return l.End.run(t, h, y)
	}
	return layers.Out{Y: y}
}

// agnnLayer attends to what a dense layer makes of the features, or, after the first,
// to what the layer before it has made, and then has the dense layer.
type agnnLayer struct {
	layers.AGNNConv
	Dense      layers.Linear
	drop       float64
	activation grad.Activation
	first      bool
}

func newAGNN(d *design, s size) layer {
	return &agnnLayer{Dense: layers.Linear{In: s.in, Out: s.out}, drop: d.Dropout, activation: inner(grad.ReLU, s), first: s.first}
}

// Init makes the Params of both.
func (l *agnnLayer) Init(rng *rand.Rand) {
	l.AGNNConv.Init(rng)
	l.Dense.Init(rng)
}

func (l *agnnLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	x = t.Dropout(x, l.drop)
	if l.first {
		return l.Apply(t, h.Graph, layers.In{Src: l.Dense.Forward(t, x).Activate(l.activation), Weight: h.Mask})
	}
	out := l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask})
	out.Y = l.Dense.Forward(t, out.Y).Activate(l.activation)
	return out
}

// pnaDelta stands for the mean of log(d+1) of the training graph, of about which
// citation graphs with loops are: the matrix after it takes up any other factor.
const pnaDelta = 1.5

// pnaLayer makes narrow features first: a node's row has twelve times as many columns
// as what it reads.
type pnaLayer struct {
	layers.PNAConv
	Narrow *layers.Linear // of the first layer
	drop   float64
}

func newPNA(d *design, s size) layer {
	l := &pnaLayer{PNAConv: layers.PNAConv{In: s.in, Out: s.out, Delta: pnaDelta, EdgeIn: d.EdgeIn, Activation: inner(grad.ReLU, s)}, drop: d.Dropout}
	if s.first {
		l.Narrow = &layers.Linear{In: s.in, Out: d.Hidden}
		l.In = d.Hidden
	}
	return l
}

// Init makes the Params of both.
func (l *pnaLayer) Init(rng *rand.Rand) {
	if l.Narrow != nil {
		l.Narrow.Init(rng)
	}
	l.PNAConv.Init(rng)
}

func (l *pnaLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	x = t.Dropout(x, l.drop)
	if l.Narrow != nil {
		x = l.Narrow.Forward(t, x).ReLU()
	}
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask, Edge: h.Edge})
}
