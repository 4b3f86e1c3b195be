package models

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// gatLayer drops what it reads of a layer before it, and its GATConv what it reads of
// the nodes: masks have the numbers that published results were made with.
type gatLayer struct {
	layers.GATConv
	drop float64
}

func newGAT(d *design, s size) layer {
	l := &gatLayer{GATConv: layers.GATConv{
		In: s.in, Out: s.out, Heads: d.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		AttnDrop: d.AttentionDropout, Residual: d.residual(), EdgeIn: d.EdgeIn,
	}}
	if s.first {
		l.FeatDrop = d.Dropout
	} else {
		l.drop = d.Dropout
	}
	if d.ValueDrop {
		l.ValueDrop = d.Dropout
	}
	return l
}

func (l *gatLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	if l.drop > 0 {
		x = t.Dropout(x, l.drop)
	}
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask, Edge: h.Edge})
}

// Conv returns the layer as one GATConv, which drops what either reads.
func (l *gatLayer) Conv() *layers.GATConv {
	c := l.GATConv
	c.FeatDrop = max(c.FeatDrop, l.drop)
	return &c
}

type gatv2Layer struct{ layers.GATv2Conv }

func newGATv2(d *design, s size) layer {
	return &gatv2Layer{layers.GATv2Conv{
		In: s.in, Out: s.out, Heads: d.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		FeatDrop: d.Dropout, AttnDrop: d.AttentionDropout, Residual: d.residual(), EdgeIn: d.EdgeIn,
	}}
}

func (l *gatv2Layer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask, Edge: h.Edge})
}

type transformerLayer struct{ layers.TransformerConv }

func newTransformer(d *design, s size) layer {
	return &transformerLayer{layers.TransformerConv{
		In: s.in, Out: s.out, Heads: d.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		FeatDrop: d.Dropout, AttnDrop: d.AttentionDropout, EdgeIn: d.EdgeIn,
	}}
}

func (l *transformerLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask, Edge: h.Edge})
}
