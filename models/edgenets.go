package models

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// fedLayer has a convolution that reads narrow, dense rows: of the features a dense layer
// makes them.
type fedLayer struct {
	Narrow *layers.Linear // of the first layer
	Conv   conv
	End    *layers.Linear // of the last, where the convolution does not give the classes itself
	drop   float64
}

// newFed returns a layer whose convolution, for rows of a width, is made by make.
func newFed(d *design, s size, make func(width int) conv) *fedLayer {
	l := &fedLayer{drop: d.Dropout}
	if s.first {
		l.Narrow = &layers.Linear{In: s.in, Out: d.Hidden}
		s.in = d.Hidden
	}
	l.Conv = make(s.in)
	return l
}

// Init makes the Params of all of them.
func (l *fedLayer) Init(rng *rand.Rand) {
	if l.Narrow != nil {
		l.Narrow.Init(rng)
	}
	l.Conv.Init(rng)
	if l.End != nil {
		l.End.Init(rng)
	}
}

func (l *fedLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	x = t.Dropout(x, l.drop)
	if l.Narrow != nil {
		x = l.Narrow.Forward(t, x).ReLU()
	}
	out := l.Conv.Apply(t, h.Graph, layers.In{Src: x, Edge: h.Edge, Weight: h.Mask})
	if l.End != nil {
		out.Y = l.End.Forward(t, t.Dropout(out.Y, l.drop))
	}
	return out
}

// newNNConv is the edge network, of which a node hears itself besides.
func newNNConv(d *design, s size) layer {
	return newFed(d, s, func(width int) conv {
		return &layers.NNConv{
			In: width, Out: s.out, EdgeIn: d.EdgeIn, Aggregate: layers.AggregateMean, Residual: layers.ResidualLinear, Activation: inner(grad.ReLU, s),
		}
	})
}

// newGPS is a transformer's block on all nodes, whose dense layer at the end gives the classes.
func newGPS(d *design, s size) layer {
	l := newFed(d, s, func(width int) conv {
		return &layers.GPSConv{Width: width, Heads: someHeads(d.Hidden), EdgeIn: d.EdgeIn}
	})
	if s.last {
		l.End = &layers.Linear{In: d.Hidden, Out: s.out}
	}
	return l
}

// rgcnLayer has a matrix for each kind of edges, the loops' among them.
type rgcnLayer struct {
	layers.RGCNConv
	drop float64
}

func newRGCN(d *design, s size) layer {
	return &rgcnLayer{layers.RGCNConv{In: s.in, Out: s.out, Relations: d.EdgeKinds, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *rgcnLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Mask})
}
