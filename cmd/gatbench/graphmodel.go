package main

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
)

// graphNet reads graphs out as GIN's paper has it, whatever its convolutions: each layer's
// nodes, the features included, are added up, or read out in another way, and give each graph its
// scores, of which the sum is the result. The nodes that a pooling leaves go on.
type graphNet struct {
	Task    string // taskGraph: its file says so
	Recipe  graphRecipe
	In, Out int
	Kind    goalKind `json:",omitempty"` // of what is learnt
	Scale   scale    `json:",omitzero"`  // of numbers

	Convs  []graphConv         `json:"-"`
	Norms  []*layers.BatchNorm `json:"-"`
	Pools  []graphPool         `json:"-"` // none, or one a convolution
	Reads  []graphReader       `json:"-"` // of the features, and of each convolution's nodes
	Scores []*layers.Linear    `json:"-"` // of what is read

	drop float64 // of the scores, as the authors' code has it
}

// newGraphNet returns a network for features of that width. As the authors count them,
// the features are the first of the recipe's layers.
func newGraphNet(r graphRecipe, width int, g *goal) *graphNet {
	n := &graphNet{Task: taskGraph, Recipe: r, In: width, Out: g.outputs, Kind: g.kind, Scale: g.scale}
	n.build()
	return n
}

// build makes the layers that the recipe asks for.
func (n *graphNet) build() {
	r, width, classes := &n.Recipe, n.In, n.Out
	rng := rand.New(rand.NewPCG(r.Seed, 0))
	conv := r.model().make
	n.drop = r.Dropout
	read := r.readout()
	score := func() {
		n.Reads = append(n.Reads, read.make(width))
		n.Scores = append(n.Scores, &layers.Linear{In: read.wider * width, Out: classes})
	}
	score()
	for range r.Layers - 1 {
		n.Convs = append(n.Convs, conv(r, width))
		n.Norms = append(n.Norms, &layers.BatchNorm{Width: r.Hidden})
		width = r.Hidden
		score()
		if p := r.pooling(width); p != nil {
			n.Pools = append(n.Pools, p)
		}
	}
	for i, l := range n.Convs {
		l.Init(rng)
		n.Norms[i].Init(rng)
	}
	for _, l := range n.Scores {
		l.Init(rng)
	}
	for _, l := range n.Reads {
		l.Init(rng)
	}
	for _, l := range n.Pools {
		l.Init(rng)
	}
}

// Forward returns a row of logits for each graph of a batch.
func (n *graphNet) Forward(t *grad.Tape, b *datasets.GraphBatch) *grad.Var {
	x, g := grad.Const(b.Features), b.Graph
	in := layers.In{}
	if n.Recipe.EdgeIn > 0 {
		in.Edge = grad.Const(b.EdgeFeatures)
	}
	score := func(i int) *grad.Var {
		return t.Dropout(n.Scores[i].Forward(t, n.Reads[i].Forward(t, g, x)), n.drop)
	}
	y := score(0)
	for i, conv := range n.Convs {
		in.Src = x
		x = n.Norms[i].Forward(t, conv.Apply(t, g, in).Y).ReLU()
		if len(n.Pools) > 0 {
			kept := n.Pools[i].Forward(t, g, x)
			x, g, in.Edge = kept.Y, kept.Graph, keptEdges(in.Edge, kept.Graph)
		}
		y = y.Add(score(i + 1))
	}
	return y
}
