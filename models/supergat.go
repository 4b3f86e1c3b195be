package models

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/sample"
)

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
		part := graph.Must(g.EdgeSubgraph(someEdges(edges, seed, t.Step())))
		negatives := graph.Must(pairs.Draw(few, t.Step()))
		for _, l := range n.Layers {
			super := l.(*superLayer)
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
