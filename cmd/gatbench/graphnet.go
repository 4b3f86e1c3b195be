package main

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
)

// graphNet is a network for graphs and how it was trained. Its file holds the recipe, from which the layers are made
// again.
type graphNet struct {
	Task    string // taskGraph: its file says so
	Recipe  graphRecipe
	In, Out int
	Kind    goalKind `json:",omitempty"` // of what is learnt
	Scale   scale    `json:",omitzero"`  // of numbers

	*models.GraphNetwork `json:"-"`
}

// newGraphNet returns a network for features of that width. As GIN's authors count them,
// the features are the first of the recipe's layers.
func newGraphNet(r graphRecipe, width int, g *goal) *graphNet {
	n := &graphNet{Task: taskGraph, Recipe: r, In: width, Out: g.Outputs, Kind: g.kind, Scale: g.Scale}
	n.build()
	return n
}

// plan returns the network that the recipe asks for, without its Params.
func (r *graphRecipe) plan(in, out int) *models.GraphNetwork {
	return &models.GraphNetwork{
		Model: r.model().Name, Settings: models.Settings{Hidden: r.Hidden, Layers: r.Layers, Dropout: r.Dropout},
		Shape: models.Shape{In: in, Out: out, EdgeIn: r.EdgeIn, EdgeKinds: r.Kinds}, Readout: r.Readout, Pool: r.Pool,
	}
}

// build makes the layers that the recipe asks for.
func (n *graphNet) build() {
	n.GraphNetwork = n.Recipe.plan(n.In, n.Out)
	n.Init(rand.New(rand.NewPCG(n.Recipe.Seed, 0)))
}

// logits returns a row for each graph of a batch.
func (n *graphNet) logits(t *grad.Tape, b *datasets.GraphBatch) *grad.Var {
	in := layers.In{Src: grad.Const(b.Features)}
	if n.Recipe.EdgeIn > 0 {
		in.Edge = grad.Const(b.EdgeFeatures)
	}
	return n.Forward(t, b.Graph, in)
}

// fits reports a model of more numbers than a file of that many bytes has.
func (n *graphNet) fits(bytes int64) error {
	return models.Fits(n.Recipe.plan(n.In, n.Out).Numbers(), bytes)
}

// readSum is the readout that a recipe need not name.
const readSum = "sum"

// checkReadout returns an error for a readout or a pooling that there is not.
func (r *graphRecipe) checkReadout() error {
	if r.Readout != "" {
		if err := oneOf("--readout", r.Readout, models.Readouts()); err != nil {
			return err
		}
	}
	if r.Pool != "" {
		return oneOf("--pool", r.Pool, models.Pools())
	}
	return nil
}
