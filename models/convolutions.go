package models

import (
	"math/rand/v2"

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

// h2Layer is a part of H2GCN: the first is a dense layer, and each after it a round. What
// all of them made stands side by side, and a dense layer at the end of the last reads it.
type h2Layer struct {
	Dense *denseLayer // of the first
	Round layers.H2GCNConv
	End   *denseLayer // of the last

	hidden int
}

func newH2GCN(d *design, s size) layer {
	l := &h2Layer{hidden: d.Hidden}
	if s.first {
		l.Dense = &denseLayer{layers.Linear{In: s.in, Out: d.Hidden}, 0, grad.ReLU}
	}
	if s.last {
		all := d.Hidden<<d.Layers - d.Hidden // a round's result is twice as wide as what it reads
		l.End = &denseLayer{layers.Linear{In: all, Out: s.out}, d.Dropout, ""}
	}
	return l
}

// Init makes the dense layers' Params; a round has none.
func (l *h2Layer) Init(rng *rand.Rand) {
	for _, dense := range []*denseLayer{l.Dense, l.End} {
		if dense != nil {
			dense.Init(rng)
		}
	}
}

func (l *h2Layer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	if l.Dense != nil {
		x = l.Dense.run(t, h, x).Y
	} else {
		wide := x.Dim(1)
		last := x.Columns((wide-l.hidden)/2, wide) // what the part before made: hidden·2^k of hidden·(2^(k+1)−1) columns
		x = grad.Concat(x, l.Round.Forward(t, h.Graph, last))
	}
	if l.End != nil {
		return l.End.run(t, h, x)
	}
	return layers.Out{Y: x}
}

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
	end    bool
}

func newAPPNP(d *design, s size) layer {
	dense := denseLayer{layers.Linear{In: s.in, Out: s.out}, d.Dropout, inner(grad.ReLU, s)}
	return &appnpLayer{Dense: dense, end: s.end}
}

// Init makes the dense layer's Params; spreading has none.
func (l *appnpLayer) Init(rng *rand.Rand) { l.Dense.Init(rng) }

func (l *appnpLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	out := l.Dense.run(t, h, x)
	if l.end {
		spread := l.Spread
		spread.Norm = h.norm()
		out = spread.Apply(t, h.Graph, layers.In{Src: out.Y, Weight: h.Weight})
	}
	return out
}
