package main

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

type sageLayer struct{ layers.SAGEConv }

func newSAGE(r *recipe, s size) layer {
	return &sageLayer{layers.SAGEConv{In: s.in, Out: s.out, FeatDrop: r.Dropout, Activation: inner(grad.ReLU, s)}}
}

func (l *sageLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: x, Weight: h.mask})
}

// ginLayer has a perceptron of two layers.
type ginLayer struct {
	layers.GINConv
	drop float64
}

// newGIN is GIN's layer, or where edges have features GINE's.
func newGIN(r *recipe, s size) layer {
	if r.EdgeIn > 0 {
		return newFed(r, s, func(width int) graphConv {
			return &layers.GINEConv{Net: layers.MLP{Widths: []int{width, r.Hidden, s.out}}, EdgeIn: r.EdgeIn, Activation: inner(grad.ReLU, s)}
		})
	}
	net := layers.MLP{Widths: []int{s.in, r.Hidden, s.out}}
	return &ginLayer{layers.GINConv{Net: net, Activation: inner(grad.ReLU, s)}, r.Dropout}
}

func (l *ginLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.mask})
}

// denseLayer sees no graph.
type denseLayer struct {
	layers.Linear
	drop       float64
	activation grad.Activation
}

func newDense(r *recipe, s size) layer {
	return &denseLayer{layers.Linear{In: s.in, Out: s.out, NoBias: r.NoBias}, r.Dropout, inner(grad.ReLU, s)}
}

func (l *denseLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	y := l.Forward(t, t.Dropout(x, l.drop))
	if h.graph.Bipartite() {
		y = y.Rows(h.graph.DstRows())
	}
	return layers.Out{Y: y.Activate(l.activation)}
}
