package models

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// armaLayer has one stack of one step.
type armaLayer struct {
	layers.ARMAConv
	drop float64
}

func newARMA(d *design, s size) layer {
	return &armaLayer{layers.ARMAConv{In: s.in, Out: s.out, NoActivation: s.last || s.bare}, d.Dropout}
}

func (l *armaLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	conv := l.ARMAConv
	conv.Norm = h.norm()
	return conv.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Weight})
}

// edgeLayer has a perceptron of two layers on each edge.
type edgeLayer struct {
	layers.EdgeConv
	drop float64
}

func newEdgeConv(d *design, s size) layer {
	net := layers.MLP{Widths: []int{2 * s.in, d.Hidden, s.out}}
	return &edgeLayer{layers.EdgeConv{Net: net, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *edgeLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Mask})
}

type resGatedLayer struct {
	layers.ResGatedConv
	drop float64
}

func newResGated(d *design, s size) layer {
	return &resGatedLayer{layers.ResGatedConv{In: s.in, Out: s.out, EdgeIn: d.EdgeIn, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *resGatedLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.Mask, Edge: h.Edge})
}

// gatedLayer takes two steps, on states that a dense layer makes of the features; another
// makes classes of the last layer's.
type gatedLayer struct {
	Dense layers.Linear
	Gated layers.GatedGraphConv
	End   *layers.Linear // of the last layer
	drop  float64
}

func newGatedGraph(d *design, s size) layer {
	l := &gatedLayer{Dense: layers.Linear{In: s.in, Out: d.Hidden}, drop: d.Dropout}
	l.Gated = layers.GatedGraphConv{In: d.Hidden, Out: d.Hidden, Steps: gatedSteps, Kinds: d.EdgeKinds}
	if s.last {
		l.End = &layers.Linear{In: d.Hidden, Out: s.out}
	}
	return l
}

// Init makes the Params of all of them.
func (l *gatedLayer) Init(rng *rand.Rand) {
	l.Dense.Init(rng)
	l.Gated.Init(rng)
	if l.End != nil {
		l.End.Init(rng)
	}
}

func (l *gatedLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	out := l.Gated.Apply(t, h.Graph, layers.In{Src: l.Dense.Forward(t, t.Dropout(x, l.drop)), Weight: h.Mask})
	if l.End != nil {
		out.Y = l.End.Forward(t, t.Dropout(out.Y, l.drop))
	}
	return out
}

// monetLayer has the features of an edge as its coordinates, or where there are none the roots of
// the degrees at both ends, as its paper has it for citations.
type monetLayer struct {
	layers.MoNetConv
	drop float64
}

func newMoNet(d *design, s size) layer {
	return &monetLayer{layers.MoNetConv{In: s.in, Out: s.out, EdgeIn: cmp.Or(d.EdgeIn, 2), Kernels: monetKernels, Activation: inner(grad.ReLU, s)}, d.Dropout}
}

func (l *monetLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	edge := h.Edge
	if edge == nil {
		edge = rootsOfDegrees(h.Graph)
	}
	return l.Apply(t, h.Graph, layers.In{Src: t.Dropout(x, l.drop), Edge: edge, Weight: h.Mask})
}

type rootsKey struct{}

// rootsOfDegrees returns 1/√degree of source and destination, a row for each edge. It is worked
// out once a graph.
func rootsOfDegrees(g *graph.Graph) *grad.Var {
	return graph.Derive(g, rootsKey{}, func() *grad.Var {
		x, degrees, dst := tensor.New(g.NumEdges(), 2), g.InDegrees(), g.Destinations()
		for e, u := range g.In().Cols {
			for i, v := range [2]int32{u, dst[e]} {
				x.Row(e)[i] = tensor.Float(1 / math.Sqrt(float64(max(1, degrees[v]))))
			}
		}
		return grad.Const(x)
	})
}
