package models

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

type sageLayer struct{ layers.SAGEConv }

func newSAGE(d *design, s size) layer {
	return &sageLayer{layers.SAGEConv{In: s.in, Out: s.out, FeatDrop: d.Dropout, Activation: inner(grad.ReLU, s)}}
}

func (l *sageLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask})
}

// ginLayer has a perceptron of two layers.
type ginLayer struct {
	layers.GINConv
	drop float64
}

// newGIN is GIN's layer, or where edges have features GINE's.
func newGIN(d *design, s size) layer {
	if d.EdgeIn > 0 {
		return newFed(d, s, func(width int) conv {
			return &layers.GINEConv{Net: layers.MLP{Widths: []int{width, d.Hidden, s.out}}, EdgeIn: d.EdgeIn, Activation: inner(grad.ReLU, s)}
		})
	}
	net := layers.MLP{Widths: []int{s.in, d.Hidden, s.out}}
	return &ginLayer{layers.GINConv{Net: net, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *ginLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Mask})
}

// denseLayer sees no graph.
type denseLayer struct {
	layers.Linear
	drop       float64
	activation grad.Activation
}

func newDense(d *design, s size) layer {
	return &denseLayer{layers.Linear{In: s.in, Out: s.out, NoBias: d.NoBias}, d.Dropout, inner(grad.ReLU, s)}
}

func (l *denseLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	y := l.Forward(t, t.Dropout(x, l.drop))
	if h.Graph.Bipartite() {
		y = y.Rows(h.Graph.DstRows())
	}
	return layers.Out{Y: y.Activate(l.activation)}
}
