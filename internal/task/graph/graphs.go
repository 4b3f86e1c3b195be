package graph

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Recipe is all that a training on graphs depends on beside the data.
type Recipe struct {
	Dataset     string  `flag:"dataset"`
	Model       string  `flag:"model" json:",omitempty"`  // of the convolutions; empty: modelGIN
	Preset      string  `flag:"preset" json:",omitempty"` // empty: presetPaper
	Splits      string  `flag:"splits" json:",omitempty"` // of one training; empty: there are folds
	Select      string  `flag:"select"`
	Weights     string  `flag:"class-weights" json:",omitempty"` // of classes in the loss; empty: all are 1
	Positive    string  `flag:"positive" json:",omitempty"`      // of two classes; empty: the goal says which
	Loss        string  `flag:"loss" json:",omitempty"`          // of numbers: empty: task.LossMSE
	WeightDecay float64 `flag:"weight-decay"`
	Patience    int     `flag:"patience"`
	Seed        uint64  `flag:"seed"`
	Hidden      int     `flag:"hidden"`
	Layers      int     `flag:"layers"` // the features are the first
	Dropout     float64 `flag:"dropout"`
	LR          float64 `flag:"lr"`
	Epochs      int     `flag:"epochs"`
	Batch       int     `flag:"batch"`                        // graphs a step
	Accumulate  int     `flag:"accumulate" json:",omitempty"` // batches whose gradients make one step; 0: 1
	Steps       int     `flag:"preset"`                       // of an epoch, each on graphs drawn anew; 0: so many that an epoch goes over all
	Folds       int     `flag:"folds"`
	Encoding    string  `flag:"encoding"`
	Column      string  `flag:"column" json:",omitempty"`           // NAME=KIND between commas
	EdgeIn      int     `flag:"no-edge-features" json:",omitempty"` // features of edges that the convolutions read; 0: none
	Kinds       int     `flag:"no-edge-features" json:",omitempty"` // kinds of edges that they read; 0: none

	Readout string `flag:"readout" json:",omitempty"` // empty: readSum
	Pool    string `flag:"pool" json:",omitempty"`    // after each convolution; empty: none
}

// title is the model's name for people.
func (r *Recipe) title() string {
	if m := r.model(); m.Name != modelGIN || r.EdgeIn == 0 {
		return m.Title
	}
	return "GINE"
}

// The presets of graphs.
const (
	presetQuick = "quick" // those of GIN's authors, but that an epoch goes over all graphs and there are fewer
	presetPaper = "paper" // those of GIN's authors: 350 epochs of 50 steps for folds
)

// preset is that of the recipe.
func (r *Recipe) preset() string { return cmp.Or(r.Preset, presetPaper) }

// quickEpochs is how many epochs a quick training has: as many as take some ten seconds on two processors, but no more than GIN's authors
// have; of larger data, which learn little in so few, up to 100 that take about a minute; and at least 5. A graph costs as much as 16 nodes
// more, its share of what a step costs whatever it reads.
func (k *Graphs) quickEpochs(r *Recipe) int {
	const rows, least, longer, enough = 10_000_000, 5, 5, 100
	each := k.Graph.NumNodes() + 16*k.Len()
	if r.Splits == "" {
		each *= r.Folds - 1
	}
	return max(least, min(rows/each, GIN().Epochs), min(longer*rows/each, enough))
}

// GIN returns the settings of GIN's authors: a step is 32 graphs, and an epoch 50 steps.
func GIN() Recipe {
	return Recipe{Select: "accuracy", Hidden: 64, Layers: 5, Dropout: 0.5, LR: 0.01, Epochs: 350, Batch: 32, Steps: 50, Folds: 10}
}

// Graphs is a dataset of graphs as networks want it.
type Graphs struct {
	*datasets.Graphs
	name  string // on a command line
	feeds string // what the features are
	goal  *task.Goal

	source *datasets.Graphs // as they were read
	listed int              // edges of the data, without loops that a model wants
	team   *ranks.Team      // of the ranks that share the training; nil: this process is alone

	learns   bool               // which graphs train decides what their features are
	prepared models.Preparation // of the graphs, fitted on those that train
}

// OpenGraphs opens the dataset of a recipe. Networks read the attributes of nodes and which label each has, or by the preset of GIN's
// authors, as these do, the labels alone; where nodes have neither, how many neighbours they have.
func OpenGraphs(dir, name string, r *Recipe) (*Graphs, error) {
	d, err := source.OpenGraphs(dir, name, r.Column)
	if err != nil {
		return nil, err
	}
	k, err := newGraphTask(d, name)
	if err != nil {
		return nil, err
	}
	k.learns = d.Schema != nil && d.Schema.Learns()
	if !r.onlyLabels() && d.Features != nil && d.Attributes > 0 {
		if d.Attributes < d.Features.Dim(1) {
			k.feeds = "attributes of nodes, standardised, and their labels"
		}
		k.learns = true
	}
	all, err := task.EncodingsOf(r.Encoding)
	if err != nil {
		return nil, err
	}
	k.feeds += all.Says()
	return k, k.prepare(r, d.Split)
}

// onlyLabels reports whether of nodes that have attributes and labels the labels alone are read.
func (r *Recipe) onlyLabels() bool { return r.preset() == presetPaper }

// prepare makes the graphs what networks of a recipe read: those that train in a split decide which words and numbers there are, and the scale
// of attributes.
func (k *Graphs) prepare(r *Recipe, s datasets.Split) error {
	p := models.Preparation{Encoding: r.Encoding, NoEdges: r.EdgeIn == 0 && r.Kinds == 0, OnlyLabels: r.onlyLabels()}
	if p.Features.Form = columns.Standard; p.OnlyLabels {
		p.Features.Form = columns.Raw
	}
	m, err := models.Named(r.model().Name)
	if err != nil {
		return err
	}
	d := *k.source
	d.Split = s
	g, err := models.PrepareGraphs(&d, m, &p)
	if err == nil {
		k.Graphs, k.prepared = g, p
	}
	return err
}

// on returns the task with the features that the graphs which train in a split give it.
func (k *Graphs) on(r *Recipe, s datasets.Split) (*Graphs, error) {
	own := *k
	if !k.learns {
		return &own, nil
	}
	if err := own.prepare(r, s); err != nil {
		return nil, fmt.Errorf("--dataset %s: %w", k.name, err)
	}
	if r.EdgeIn > 0 {
		r.EdgeIn = task.WidthOf(own.EdgeFeatures)
	}
	return &own, nil
}

// newGraphTask makes a task of graphs as they were read.
func newGraphTask(d *datasets.Graphs, name string) (*Graphs, error) {
	if d.Labels == nil && d.MultiLabels == nil && d.Targets == nil {
		return nil, cli.Misuse("--dataset %s: its graphs have no classes, labels or numbers to predict", name)
	}
	if d.Labels != nil && d.Classes == 1 {
		return nil, cli.Misuse("--dataset %s: all its graphs are of one class, so there is nothing to learn", name)
	}
	k := &Graphs{Graphs: d, name: name, feeds: "labels of nodes", source: d, listed: d.Graph.NumEdges()}
	k.goal = task.NewGoal(models.GoalOfGraphs(d))
	switch {
	case d.Features == nil:
		k.feeds = "degrees of nodes"
	case len(d.Codes) == d.Features.Dim(1):
		k.feeds = "codes of nodes"
	case d.Attributes == d.Features.Dim(1):
		k.feeds = "attributes of nodes"
	}
	return k, nil
}

// NewFit makes f the training of a new network on the graphs of a split, and returns the
// network and what it is to learn. Where the split validates, the recipe's rule chooses the
// epoch; else the last is kept. What f had in memory is used again.
func (k *Graphs) NewFit(f *train.Fit, r Recipe, s datasets.Split) (*Network, *task.Goal, error) {
	rule := r.Select
	if len(s.Val) == 0 { // of folds
		rule = "last"
	}
	own, err := k.goal.Aimed(task.Aims{Rule: rule, Weights: r.Weights, Positive: r.Positive}, s)
	if err != nil {
		return nil, nil, err
	}
	if own.Learns == task.SomeReals {
		if err := own.Learn(s.Train); err != nil {
			return nil, nil, fmt.Errorf("--dataset %s: %w", k.name, err)
		}
	}
	net := newGraphNet(r, k.Graphs, own)
	draw := k.drawer(&r, s.Train)
	f.Model, f.Seed, f.Epochs, f.By, f.Limit, f.Steps, f.Patience = net, r.Seed, r.Epochs, train.ByLast, task.MaxLoss, r.Steps, r.Patience
	f.Team, f.Accumulate = k.team, r.Accumulate
	weight := 0.0
	f.Weight = func() float64 { return weight }
	f.Loss = func(t *grad.Tape) *grad.Var {
		b := k.Batch(draw(t.Step()))
		weight = own.Weight(b.IDs)
		return own.LossOf(r.Loss, b.IDs)(net.logits(t, b))
	}
	if r.Steps == 0 {
		f.Steps = (len(s.Train) + r.Batch - 1) / r.Batch
	}
	const halved = 50 // epochs
	together := max(1, f.Accumulate) * k.team.Size()
	f.Optimiser = &train.Adam{LR: r.LR, WeightDecay: r.WeightDecay, Schedule: train.StepDecay{Every: halved * ((f.Steps + together - 1) / together), Gamma: 0.5}}
	held, y := k.held(&r, s.Test), tensor.New(k.Len(), own.Outputs)
	validate := k.held(&r, s.Val)
	if len(s.Val) > 0 {
		f.By, _, _ = task.Criterion(r.Select)
	}
	f.Eval = func(t *grad.Tape) (scores train.Scores) {
		if len(s.Val) > 0 {
			k.fill(t, net, y, validate)
		}
		if len(s.Test) > 0 {
			t.ResetEval()
			k.fill(t, net, y, held)
		}
		return own.Watch(y, datasets.Split{Val: s.Val, Test: s.Test})
	}
	return net, own, nil
}

// held returns graphs in batches as large as those of training, so that an evaluation
// takes no more memory than a step.
func (k *Graphs) held(r *Recipe, ids []int32) (batches []*datasets.GraphBatch) {
	for part := range slices.Chunk(ids, r.Batch) {
		batches = append(batches, k.Batch(part))
	}
	return batches
}

// fill sets the rows of y of the graphs of some batches to what n says of them. Of the batches each rank takes its share.
func (k *Graphs) fill(t *grad.Tape, n *Network, y *tensor.Dense, batches []*datasets.GraphBatch) {
	ids, sizes := [][]int32{}, []int{} // of the graphs of each rank, and of their rows
	for rank := range k.team.Size() {
		var own []int32
		for i := rank; i < len(batches); i += k.team.Size() {
			own = append(own, batches[i].IDs...)
		}
		ids, sizes = append(ids, own), append(sizes, len(own)*y.RowLen())
	}
	var own []tensor.Float
	for i := k.team.Rank(); i < len(batches); i += k.team.Size() {
		own = append(own, n.logits(t, batches[i]).Value().Data...)
		t.ResetEval()
	}
	rows := make([]tensor.Float, len(slices.Concat(ids...))*y.RowLen())
	_ = ranks.Share(k.team, own, rows, sizes) // the team's next exchange fails, too, and its error ends the training
	for _, id := range slices.Concat(ids...) {
		rows = rows[copy(y.Row(int(id)), rows[:y.RowLen()]):]
	}
}

// All returns the number of each graph.
func (k *Graphs) All() []int32 { return task.NumbersTo(k.Len()) }

// drawer returns what draws the graphs of a step, which counts from 1. Where an epoch goes
// over all, they follow from the seed and the step alone, so that a training that is resumed
// goes on as it would have.
func (k *Graphs) drawer(r *Recipe, ids []int32) func(step uint64) []int32 {
	if r.Steps > 0 { // of folds, which are not resumed: published results drew so
		rng, drawn, last := rand.New(rand.NewPCG(r.Seed, 1)), uint64(0), []int32(nil)
		return func(step uint64) []int32 {
			for ; drawn < step; drawn++ { // those of other ranks, too
				last = k.Batches(rng, ids, r.Batch)[0]
			}
			return last
		}
	}
	epoch, cut := uint64(math.MaxUint64), [][]int32(nil)
	each := uint64((len(ids) + r.Batch - 1) / r.Batch)
	return func(step uint64) []int32 {
		if e := (step - 1) / each; e != epoch {
			epoch, cut = e, k.Batches(rand.New(rand.NewPCG(r.Seed+1, e)), ids, r.Batch)
		}
		return cut[(step-1)%each]
	}
}

// Remedies say which flags of train a training on whole graphs has no use for, and what to do.
var Remedies = task.Remedies(map[string]string{
	"files of graphs say themselves what is what: leave it out":                                                                   "id source target edge-id label weight repeated directed",
	"none is trained beside: leave it out":                                                                                        "no-baseline",
	"graphs are used as they stand in their files: leave it out":                                                                  "undirected",
	"attention layers on graphs have four heads, or one if --hidden is not a multiple of four: leave it out":                      "heads",
	"a graph's scores are computed without heads: leave it out":                                                                   "out-heads",
	"networks on graphs have none: --dropout applies to their scores":                                                             "attention-dropout",
	"the scores add up all layers already: leave it out":                                                                          "residual",
	"the networks of graphs are GIN's, with a batch norm after each convolution: leave it out":                                    "residual-linear norm input output",
	"attributes of graphs are standardised, and labels one-hot; --column NAME=none leaves a column out, --encoding adds features": "features",
	"a step reads whole graphs: --batch says how many":                                                                            "fanout",
	"a step computes all rows of its graphs: leave it out":                                                                        "rows",
	"graphs have one split, or --folds: leave it out":                                                                             "split-number",
	"test graphs are never seen in training: leave it out":                                                                        "inductive",
	"it is for --task node: leave it out":                                                                                         "attention",
	"it is for --attention with --task node: leave it out":                                                                        "nodes",
})

// trained is a network of graphs as a model file has it.
func (k *Graphs) trained(n *Network, own *task.Goal) *models.Trained {
	return &models.Trained{Task: models.Graphs, Net: n.GraphNetwork, Schema: k.Schema, Preparation: k.prepared, Goal: own.Kept(k.Schema), Data: models.Source{Name: k.Name}}
}

// checkPairs returns an error if a batch of the largest graphs has more pairs than can be.
func (r *Recipe) checkPairs(sizes []int) error {
	if r.model().Name != modelGPS {
		return nil
	}
	sizes, pairs := slices.Sorted(slices.Values(sizes)), int64(0)
	for _, n := range sizes[max(0, len(sizes)-r.Batch):] {
		if pairs += int64(n) * int64(n); pairs > node.PairsMost {
			return cli.Misuse("--model %s: it attends between all pairs of a graph's nodes, and a batch of %d of these graphs may have more than %.1g pairs: take a smaller --batch, or %s", r.Model, r.Batch, float64(node.PairsMost), node.AlongEdges)
		}
	}
	return nil
}

// The models that the code names.
const (
	modelGIN = "gin"
	modelGPS = "gps"
)
