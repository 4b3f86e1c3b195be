package models

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
)

// gatLayer drops what it reads of a layer before it, and its GATConv what it reads of
// the nodes: masks have the numbers that published results were made with.
type gatLayer struct {
	layers.GATConv
	drop float64
}

func newGAT(d *design, s size) layer {
	l := &gatLayer{GATConv: layers.GATConv{
		In: s.in, Out: s.out, Heads: d.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		AttnDrop: d.AttentionDropout, ValueDrop: d.values, Residual: d.residual(), EdgeIn: d.EdgeIn,
	}}
	if s.first {
		l.FeatDrop = d.Dropout
	} else {
		l.drop = d.Dropout
	}
	return l
}

func (l *gatLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	if l.drop > 0 {
		x = t.Dropout(x, l.drop)
	}
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask, Edge: h.Edge})
}

// Conv returns the layer as one GATConv, which drops what either reads.
func (l *gatLayer) Conv() *layers.GATConv {
	c := l.GATConv
	c.FeatDrop = max(c.FeatDrop, l.drop)
	return &c
}

type gatv2Layer struct{ layers.GATv2Conv }

func newGATv2(d *design, s size) layer {
	return &gatv2Layer{layers.GATv2Conv{
		In: s.in, Out: s.out, Heads: d.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		FeatDrop: d.Dropout, AttnDrop: d.AttentionDropout, Residual: d.residual(), EdgeIn: d.EdgeIn,
	}}
}

func (l *gatv2Layer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask, Edge: h.Edge})
}

type transformerLayer struct{ layers.TransformerConv }

func newTransformer(d *design, s size) layer {
	return &transformerLayer{layers.TransformerConv{
		In: s.in, Out: s.out, Heads: d.heads(s), Average: s.last, Activation: inner(grad.ELU, s),
		FeatDrop: d.Dropout, AttnDrop: d.AttentionDropout, EdgeIn: d.EdgeIn,
	}}
}

func (l *transformerLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask, Edge: h.Edge})
}

// What teaches a SuperGAT beside its labels, as its authors have it for Cora: so much of
// the loss, on such shares of the edges and of as many pairs that are none.
const (
	superWeight    = 4
	superEdges     = 0.8
	superNegatives = 0.5
)

// superLayer keeps what it read in the last step, for its self-supervision.
type superLayer struct {
	layers.SuperGATConv
	drop float64
	read *grad.Var
}

func newSuperGAT(d *design, s size) layer {
	return &superLayer{SuperGATConv: layers.SuperGATConv{
		In: s.in, Out: s.out, Heads: d.heads(s), Average: s.last, Activation: inner(grad.ELU, s), AttnDrop: d.AttentionDropout,
	}, drop: d.Dropout}
}

func (l *superLayer) run(t *grad.Tape, h Hop, x *grad.Var) layers.Out {
	x = t.Dropout(x, l.drop)
	if t.Recording() {
		l.read = x
	}
	return l.Apply(t, h.Graph, layers.In{Src: x, Weight: h.Mask})
}

// Teach returns loss and, of a network whose layers learn from a graph besides, as SuperGAT's do, what they learn: four
// times the loss of each layer that is to tell edges from pairs that are none. The seed draws these.
func (n *Network) Teach(g *graph.Graph, seed uint64, loss func(t *grad.Tape) *grad.Var) func(t *grad.Tape) *grad.Var {
	if !n.Traits().Taught {
		return loss
	}
	pairs := sample.Negatives{Graph: g, Directed: true, Seed: seed}
	edges := g.NumEdges()
	few := min(int(superNegatives*float64(edges)), pairs.Left())
	return func(t *grad.Tape) *grad.Var {
		y := loss(t)
		part := graph.Must(graph.EdgeSubgraph(g, someEdges(edges, seed, t.Step())))
		negatives := graph.Must(pairs.Draw(few, t.Step()))
		for _, l := range n.Layers {
			super := convOf(l).(*superLayer)
			y = y.Add(super.Loss(t, part, negatives, super.read).Scale(superWeight))
			super.read = nil
		}
		return y
	}
}

// someEdges draws a share of the edges for a step, in ascending order.
func someEdges(n int, seed, step uint64) []int32 {
	rng := rand.New(rand.NewPCG(seed^0x5e1f, step))
	var some []int32
	for e := range int32(n) {
		if rng.Float64() < superEdges {
			some = append(some, e)
		}
	}
	return some
}
