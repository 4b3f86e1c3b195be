package main

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

func newSuperGAT(r *recipe, s size) layer {
	return &superLayer{SuperGATConv: layers.SuperGATConv{
		In: s.in, Out: s.out, Heads: r.heads(s), Average: s.last, Activation: inner(grad.ELU, s), AttnDrop: r.AttnDrop,
	}, drop: r.Dropout}
}

func (l *superLayer) run(t *grad.Tape, h hop, x *grad.Var) layers.Out {
	x = t.Dropout(x, l.drop)
	if t.Recording() {
		l.read = x
	}
	return l.Apply(t, h.graph, layers.In{Src: x, Weight: h.mask})
}

// superLoss is the loss of all training nodes and, times superWeight, that of each layer
// that is to tell edges from pairs that are none.
func (k *task) superLoss(net *network, loss func(t *grad.Tape) *grad.Var) func(t *grad.Tape) *grad.Var {
	pairs := sample.Negatives{Graph: k.graph, Directed: true, Seed: net.Recipe.Seed}
	edges := k.graph.NumEdges()
	few := min(int(superNegatives*float64(edges)), pairs.Left())
	return func(t *grad.Tape) *grad.Var {
		y := loss(t)
		part := graph.Must(k.graph.EdgeSubgraph(someEdges(edges, net.Recipe.Seed, t.Step())))
		negatives := graph.Must(pairs.Draw(few, t.Step()))
		for _, l := range net.Layers {
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
