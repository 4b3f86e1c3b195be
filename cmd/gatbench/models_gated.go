package main

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

func newARMA(r *recipe, s size) layer {
	return &armaLayer{layers.ARMAConv{In: s.in, Out: s.out, NoActivation: s.last}, r.Dropout}
}

func (l *armaLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	conv := l.ARMAConv
	conv.Norm = h.norm()
	return conv.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.weight})
}

// edgeLayer has a perceptron of two layers on each edge.
type edgeLayer struct {
	layers.EdgeConv
	drop float64
}

func newEdgeConv(r *recipe, s size) layer {
	net := layers.MLP{Widths: []int{2 * s.in, r.Hidden, s.out}}
	return &edgeLayer{layers.EdgeConv{Net: net, Activation: inner(grad.ReLU, s)}, r.Dropout}
}

func (l *edgeLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.mask})
}

type resGatedLayer struct {
	layers.ResGatedConv
	drop float64
}

func newResGated(r *recipe, s size) layer {
	return &resGatedLayer{layers.ResGatedConv{In: s.in, Out: s.out, EdgeIn: r.EdgeIn, Activation: inner(grad.ReLU, s)}, r.Dropout}
}

func (l *resGatedLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop), Weight: h.mask, Edge: h.edge})
}

// gatedLayer takes two steps, on states that a dense layer makes of the features; another
// makes classes of the last layer's.
type gatedLayer struct {
	Dense layers.Linear
	Gated layers.GatedGraphConv
	End   *layers.Linear // of the last layer
	drop  float64
}

func newGatedGraph(r *recipe, s size) layer {
	l := &gatedLayer{Dense: layers.Linear{In: s.in, Out: r.Hidden}, drop: r.Dropout}
	l.Gated = layers.GatedGraphConv{In: r.Hidden, Out: r.Hidden, Steps: gatedSteps, Kinds: r.loopedKinds()}
	if s.last {
		l.End = &layers.Linear{In: r.Hidden, Out: s.out}
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

func (l *gatedLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	out := l.Gated.Apply(t, h.graph, layers.In{Src: l.Dense.Forward(t, t.Dropout(x, l.drop)), Weight: h.mask})
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

func newMoNet(r *recipe, s size) layer {
	return &monetLayer{layers.MoNetConv{In: s.in, Out: s.out, EdgeIn: cmp.Or(r.EdgeIn, 2), Kernels: monetKernels, Activation: inner(grad.ReLU, s)}, r.Dropout}
}

func (l *monetLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	edge := h.edge
	if edge == nil {
		edge = rootsOfDegrees(h.graph)
	}
	return l.Apply(t, h.graph, layers.In{Src: t.Dropout(x, l.drop), Edge: edge, Weight: h.mask})
}

type rootsKey struct{}

// rootsOfDegrees returns 1/√degree of source and destination, a row for each edge. It is worked
// out once a graph.
func rootsOfDegrees(g *graph.Graph) *grad.Var {
	return g.Derived(rootsKey{}, func() any {
		x, degrees, dst := tensor.New(g.NumEdges(), 2), g.InDegrees(), g.Destinations()
		for e, u := range g.In().Cols {
			for i, v := range [2]int32{u, dst[e]} {
				x.Row(e)[i] = tensor.Float(1 / math.Sqrt(float64(max(1, degrees[v]))))
			}
		}
		return grad.Const(x)
	}).(*grad.Var)
}
