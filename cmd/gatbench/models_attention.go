package main

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

func newGAT(r *recipe, s size) layer {
	l := &gatLayer{GATConv: layers.GATConv{
		In: s.in, Out: s.out, Heads: r.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		AttnDrop: r.AttnDrop, Residual: r.residual(), EdgeIn: r.EdgeIn,
	}}
	if s.first {
		l.FeatDrop = r.Dropout
	} else {
		l.drop = r.Dropout
	}
	if r.ValueDrop {
		l.ValueDrop = r.Dropout
	}
	return l
}

func (l *gatLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	if l.drop > 0 {
		x = t.Dropout(x, l.drop)
	}
	return l.Apply(t, h.graph, layers.In{Src: x, Weight: h.mask, Edge: h.edge})
}

type gatv2Layer struct{ layers.GATv2Conv }

func newGATv2(r *recipe, s size) layer {
	return &gatv2Layer{layers.GATv2Conv{
		In: s.in, Out: s.out, Heads: r.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		FeatDrop: r.Dropout, AttnDrop: r.AttnDrop, Residual: r.residual(), EdgeIn: r.EdgeIn,
	}}
}

func (l *gatv2Layer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: x, Weight: h.mask, Edge: h.edge})
}

type transformerLayer struct{ layers.TransformerConv }

func newTransformer(r *recipe, s size) layer {
	return &transformerLayer{layers.TransformerConv{
		In: s.in, Out: s.out, Heads: r.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		FeatDrop: r.Dropout, AttnDrop: r.AttnDrop, EdgeIn: r.EdgeIn,
	}}
}

func (l *transformerLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: x, Weight: h.mask, Edge: h.edge})
}
