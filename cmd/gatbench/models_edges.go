package main

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// fedLayer has a convolution that reads narrow, dense rows: of the features a dense layer
// makes them.
type fedLayer struct {
	Narrow *layers.Linear // of the first layer
	Conv   graphConv
	End    *layers.Linear // of the last, where the convolution does not give the classes itself
	drop   float64
}

// newFed returns a layer whose convolution, for rows of a width, conv makes.
func newFed(r *recipe, s size, conv func(width int) graphConv) *fedLayer {
	l := &fedLayer{drop: r.Dropout}
	if s.first {
		l.Narrow = &layers.Linear{In: s.in, Out: r.Hidden}
		s.in = r.Hidden
	}
	l.Conv = conv(s.in)
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

func (l *fedLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	x = t.Dropout(x, l.drop)
	if l.Narrow != nil {
		x = l.Narrow.Forward(t, x).ReLU()
	}
	out := l.Conv.Apply(t, h.graph, layers.In{Src: x, Edge: h.edge, Weight: h.mask})
	if l.End != nil {
		out.Y = l.End.Forward(t, t.Dropout(out.Y, l.drop))
	}
	return out
}

// newNNConv is the edge network, of which a node hears itself besides.
func newNNConv(r *recipe, s size) layer {
	return newFed(r, s, func(width int) graphConv {
		return &layers.NNConv{
			In: width, Out: s.out, EdgeIn: r.EdgeIn, Aggregate: layers.AggregateMean, Residual: layers.ResidualLinear, Activation: inner(grad.ReLU, s),
		}
	})
}

// newGPS is a transformer's block on all nodes, whose dense layer at the end gives the classes.
func newGPS(r *recipe, s size) layer {
	const most = 4 // heads
	heads := 1
	if r.Hidden%most == 0 {
		heads = most
	}
	l := newFed(r, s, func(width int) graphConv {
		return &layers.GPSConv{Width: width, Heads: heads, EdgeIn: r.EdgeIn}
	})
	if s.last {
		l.End = &layers.Linear{In: r.Hidden, Out: s.out}
	}
	return l
}

// rgcnLayer has a matrix for each kind of edges, the loops' among them.
type rgcnLayer struct {
	layers.RGCNConv
	drop float64
}

func newRGCN(r *recipe, s size) layer {
	return &rgcnLayer{layers.RGCNConv{In: s.in, Out: s.out, Relations: r.loopedKinds(), Activation: inner(grad.ReLU, s)}, r.Dropout}
}

func (l *rgcnLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.mask})
}
