package graph

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
)

// Network is a network for graphs and how it was trained. Its file holds the recipe, from which the layers are made
// again.
type Network struct {
	Task    string // task.Graph: its file says so
	Recipe  Recipe
	In, Out int
	Kind    task.Kind    `json:",omitempty"` // of what is learnt
	Scale   models.Scale `json:",omitzero"`  // of numbers

	Codes, EdgeCodes []columns.Code `json:",omitempty"` // as models.Shape has them

	*models.GraphNetwork `json:"-"`
}

// newGraphNet returns a network for such graphs. As GIN's authors count them,
// the features are the first of the recipe's layers.
func newGraphNet(r Recipe, d *datasets.Graphs, g *task.Goal) *Network {
	n := &Network{Task: task.Graph, Recipe: r, In: d.Features.Dim(1), Out: g.Outputs, Kind: g.Learns, Scale: g.Scale, Codes: d.Codes}
	if r.EdgeIn > 0 {
		n.EdgeCodes = d.EdgeCodes
	}
	n.Build()
	return n
}

// plan returns the network that the recipe asks for, without its Params.
func (r *Recipe) plan(in, out int) *models.GraphNetwork {
	return &models.GraphNetwork{
		Model: r.model().Name, Settings: models.Settings{Hidden: r.Hidden, Layers: r.Layers, Dropout: r.Dropout},
		Shape: models.Shape{In: in, Out: out, EdgeIn: r.EdgeIn, EdgeKinds: r.Kinds}, Readout: r.Readout, Pool: r.Pool,
	}
}

// plan returns the network without its Params.
func (n *Network) plan() *models.GraphNetwork {
	plan := n.Recipe.plan(n.In, n.Out)
	plan.Shape.Codes, plan.Shape.EdgeCodes = n.Codes, n.EdgeCodes
	return plan
}

// Build makes the layers that the recipe asks for.
func (n *Network) Build() {
	n.GraphNetwork = n.plan()
	n.Init(rand.New(rand.NewPCG(n.Recipe.Seed, 0)))
}

// logits returns a row for each graph of a batch.
func (n *Network) logits(t *grad.Tape, b *datasets.GraphBatch) *grad.Var {
	in := layers.In{Src: grad.Const(b.Features)}
	if n.Recipe.EdgeIn > 0 {
		in.Edge = grad.Const(b.EdgeFeatures)
	}
	return n.Forward(t, b.Graph, in)
}

// fits reports a model of more numbers than a file of that many bytes has.
func (n *Network) fits(bytes int64) error {
	return models.Fits(n.plan().Numbers(), bytes)
}

// readSum is the readout that a recipe need not name.
const readSum = "sum"

// model returns what the recipe's model is like.
func (r *Recipe) model() models.Traits {
	m, err := models.Named(cmp.Or(r.Model, modelGIN))
	if err != nil || models.TraitsOf(m).Graphs == nil {
		m = models.GIN{} // flags and files are checked
	}
	return models.TraitsOf(m)
}

// suit makes the graphs what the convolutions of a recipe want.
func (k *Graphs) suit(r *Recipe) error {
	if err := r.checkPairs(k.Sizes()); err != nil {
		return err
	}
	return k.prepare(r, k.source.Split)
}

// edges decides what the network reads of edges.
func (c *Training) edges(k *Graphs, r *Recipe) (err error) {
	there, without := k.there(), cli.Or(c.NoEdgeFeatures, false)
	switch {
	case without && c.Resume != "":
		return cli.Misuse("--resume %s: a run goes on with its own settings: leave --no-edge-features out", c.Resume)
	case c.Resume != "":
		if err := there.Serve(r.EdgeIn, r.Kinds); err != nil {
			return cli.Misuse("--resume %s: %w", c.Resume, err)
		}
		return k.suit(r)
	}
	m := r.model()
	if r.EdgeIn, r.Kinds, err = there.Read(m.Name, m.Graphs.Edges, without); err != nil {
		return err
	}
	return k.suit(r)
}

// there says what the graphs have of edges.
func (k *Graphs) there() task.EdgesThere {
	_, kinds := k.source.EdgeKinds()
	return task.EdgesThere{
		Data: k.Name, Width: task.WidthOf(k.source.EdgeFeatures), Kinds: kinds,
		Readers: models.GraphNames(models.MayNumbers, models.WantsNumbers), Instead: modelGIN, How: "edge_type in lines of JSON, or NAME_edge_labels.txt",
	}
}

// checkEdges returns an error for a recipe, as a file has it, whose model does not read what it
// says of edges.
func (r *Recipe) checkEdges() error {
	m := r.model()
	return m.Graphs.Edges.Check(m.Name, r.EdgeIn, r.Kinds)
}

// reads says what the networks of a recipe read.
func (k *Graphs) reads(r *Recipe) string {
	if how := r.plan(0, 0).Reading(); how != "" {
		plain := *r
		plain.Readout, plain.Pool = "", ""
		return k.reads(&plain) + "; " + how
	}
	switch {
	case r.EdgeIn > 0:
		return fmt.Sprintf("%s; %d per edge", k.feeds, r.EdgeIn)
	case r.Kinds > 0 && k.EdgeNumbers > 0:
		return fmt.Sprintf("%s; %d kinds of edges, without their other features (%d)", k.feeds, r.Kinds, k.EdgeNumbers)
	case r.Kinds > 0:
		return fmt.Sprintf("%s; %d kinds of edges", k.feeds, r.Kinds)
	}
	return k.feeds
}
