package models

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

type gcnLayer struct {
	layers.GCNConv
	drop float64
}

func newGCN(d *design, s size) layer {
	return &gcnLayer{layers.GCNConv{In: s.in, Out: s.out, NoBias: d.NoBias, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *gcnLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	conv := l.GCNConv
	conv.Norm = h.norm()
	return conv.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Weight})
}

// sgcLayer looks two hops far.
type sgcLayer struct {
	layers.SGConv
	drop float64
}

func newSGC(d *design, s size) layer {
	return &sgcLayer{layers.SGConv{In: s.in, Out: s.out}, d.Dropout}
}

func (l *sgcLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	conv := l.SGConv
	conv.Norm = h.norm()
	return conv.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Weight})
}

// appnpLayer is a dense layer; the last one's result is spread over the graph.
type appnpLayer struct {
	Dense  denseLayer
	Spread layers.APPNP
	last   bool
}

func newAPPNP(d *design, s size) layer {
	dense := denseLayer{layers.Linear{In: s.in, Out: s.out}, d.Dropout, inner(grad.ReLU, s)}
	return &appnpLayer{Dense: dense, last: s.last}
}

// Init makes the dense layer's Params; spreading has none.
func (l *appnpLayer) Init(rng *rand.Rand) { l.Dense.Init(rng) }

func (l *appnpLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	out := l.Dense.run(t, h, x)
	if l.last {
		spread := l.Spread
		spread.Norm = h.norm()
		out = spread.Apply(t, h.Graph, layers.In{Src: out.Y, Weight: h.Weight})
	}
	return out
}
