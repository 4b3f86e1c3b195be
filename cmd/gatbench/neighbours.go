package main

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

type transformerLayer struct{ layers.TransformerConv }

func newTransformer(r *recipe, s size) layer {
	return &transformerLayer{layers.TransformerConv{
		In: s.in, Out: s.out, Heads: r.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		FeatDrop: r.Dropout, AttnDrop: r.AttnDrop,
	}}
}

func (l *transformerLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: x})
}

type sageLayer struct{ layers.SAGEConv }

func newSAGE(r *recipe, s size) layer {
	return &sageLayer{layers.SAGEConv{In: s.in, Out: s.out, FeatDrop: r.Dropout, Activation: inner(grad.ReLU, s)}}
}

func (l *sageLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: x})
}

// ginLayer has a perceptron of two layers.
type ginLayer struct {
	layers.GINConv
	drop float64
}

func newGIN(r *recipe, s size) layer {
	net := layers.MLP{Widths: []int{s.in, r.Hidden, s.out}}
	return &ginLayer{layers.GINConv{Net: net, Activation: inner(grad.ReLU, s)}, r.Dropout}
}

func (l *ginLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop)})
}

// sgcLayer looks two hops far.
type sgcLayer struct {
	layers.SGConv
	drop float64
}

func newSGC(r *recipe, s size) layer {
	return &sgcLayer{layers.SGConv{In: s.in, Out: s.out}, r.Dropout}
}

func (l *sgcLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	conv := l.SGConv
	conv.Norm = h.norm()
	return conv.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.weight})
}

// appnpLayer is a dense layer; the last one's result is spread over the graph.
type appnpLayer struct {
	Dense  denseLayer
	Spread layers.APPNP
	last   bool
}

func newAPPNP(r *recipe, s size) layer {
	dense := denseLayer{layers.Linear{In: s.in, Out: s.out}, r.Dropout, inner(grad.ReLU, s)}
	return &appnpLayer{Dense: dense, last: s.last}
}

// Init makes the dense layer's Params; spreading has none.
func (l *appnpLayer) Init(rng *rand.Rand) { l.Dense.Init(rng) }

func (l *appnpLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	out := l.Dense.run(t, h, x)
	if l.last {
		spread := l.Spread
		spread.Norm = h.norm()
		out = spread.Apply(t, h.graph, layers.In{Src: out.Y, Weight: h.weight})
	}
	return out
}
