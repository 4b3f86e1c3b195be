package fact

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/gatbench/report"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/layers/knowledge"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/train"
)

// Recipe is all that a training on facts depends on beside the data.
type Recipe struct {
	Dataset     string  `flag:"dataset"`
	Model       string  `flag:"model"`
	Seed        uint64  `flag:"seed"`
	Hidden      int     `flag:"hidden"` // width of an entity's row
	LR          float64 `flag:"lr"`
	WeightDecay float64 `flag:"weight-decay"`
	Epochs      int     `flag:"epochs"`
	Patience    int     `flag:"patience"`
	Batch       int     `flag:"batch"` // facts a step
	Drawn       int     // false facts for each
	Margin      float64
	Temperature float64
	Val, Test   float64 // shares, where the data has no parts
}

// RotatE returns the settings: those of RotatE's paper, made smaller.
func RotatE(model string) Recipe {
	r := Recipe{Model: model, Hidden: 64, LR: 0.02, Epochs: 200, Batch: 1024, Drawn: 16, Margin: 6, Temperature: 1, Val: 0.1, Test: 0.1}
	if model == modelDistMult || model == modelComplEx {
		r.Margin, r.Temperature = 0, 0
	}
	return r
}

// openFacts opens a knowledge graph, and divides it if it has no parts.
func openFacts(dir, name string, r *Recipe) (*datasets.Knowledge, error) {
	k, err := source.ReadFacts(dir, name)
	if err != nil {
		return nil, err
	}
	val, test := r.Val, r.Test
	switch {
	case k.Val.NumEdges() > 0 && k.Test.NumEdges() > 0:
		return k, nil
	case k.Val.NumEdges() > 0:
		val = 0
	case k.Test.NumEdges() > 0:
		test = 0
	}
	d, err := k.Divided(rand.New(rand.NewPCG(r.Seed, 3)), val, test)
	if err != nil {
		return nil, fmt.Errorf("--dataset %s: %w", name, err)
	}
	if val == 0 {
		d.Val = k.Val
	}
	if test == 0 {
		d.Test = k.Test
	}
	return d, nil
}

// Network is a network for facts and how it was trained. Its file holds the recipe, from which the Params are made again.
type Network struct {
	Task      string // task.Facts: its file says so
	Recipe    Recipe
	Count     int    // entities
	Relations int    // of them
	Names     string // a sum of all names, so that another dataset is noticed

	*models.FactNetwork `json:"-"`
}

// NewNetwork returns an initialised scorer of the facts of some data.
func NewNetwork(k *datasets.Knowledge, r *Recipe) *Network {
	n := &Network{Task: task.Facts, Recipe: *r, Count: k.Entities, Relations: k.Relations(), Names: sumOfNames(k)}
	n.Build()
	return n
}

// sumOfNames is a number that another order of entities or relations would not have.
func sumOfNames(k *datasets.Knowledge) string {
	h := fnv.New64a()
	for _, names := range [][]string{entityIDs(k), k.RelationNames} {
		for _, name := range names {
			fmt.Fprintf(h, "%d %s", len(name), name)
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// plan returns the network that the recipe asks for, without its Params.
func (n *Network) plan() *models.FactNetwork {
	r := &n.Recipe
	return &models.FactNetwork{Model: r.Model, Settings: models.FactSettings{Hidden: r.Hidden, Margin: r.Margin}, Count: n.Count, Relations: n.Relations}
}

// Build makes the Params that the recipe asks for.
func (n *Network) Build() {
	n.FactNetwork = n.plan()
	n.Init(rand.New(rand.NewPCG(n.Recipe.Seed, 0)))
}

// fits reports a model of more numbers than a file of that many bytes has.
func (n *Network) fits(bytes int64) error { return models.Fits(n.plan().Numbers(), bytes) }

// fitFacts returns the training of a new network. The epoch of the best filtered mean
// reciprocal rank of facts to validate with is kept, of which chosenBy are ranked after each epoch.
func fitFacts(k *datasets.Knowledge, r *Recipe) (*train.Fit, *Network) {
	net := NewNetwork(k, r)
	facts := k.Train.NumEdges()
	steps := (facts + r.Batch - 1) / r.Batch
	few, draw := task.SomeEdges(k.Val, chosenBy(k)), task.EdgeDrawer(k.Train, r.Seed, r.Batch)
	f := &train.Fit{
		Model: net, Optimiser: &train.Adam{LR: r.LR, WeightDecay: r.WeightDecay}, Seed: r.Seed, Epochs: r.Epochs, Patience: r.Patience,
		Steps: steps, By: train.ByAccuracy, Limit: task.MaxLoss,
		Loss: func(t *grad.Tape) *grad.Var {
			x, some := t.Use(net.Entities), draw(t.Step())
			not, at := sample.Corruptions{Number: r.Drawn, Seed: r.Seed}.Draw(some, t.Step())
			right, wrong := net.Scorer.Forward(t, some, x), net.Scorer.Forward(t, not, x)
			return knowledge.Adversarial{Temperature: r.Temperature}.Of(right, wrong, at)
		},
	}
	f.Eval = func(t *grad.Tape) train.Scores {
		return train.Scores{Val: train.Score{Accuracy: net.ranked(t, k, few, nil).MRR()}}
	}
	return f, net
}

// chosenBy returns how many of the facts to validate with are ranked after each epoch, spread over all:
// as a rank looks at all entities, of large graphs they are few.
func chosenBy(k *datasets.Knowledge) int {
	return min(k.Val.NumEdges(), max(50, 1<<20/k.Entities))
}

// ranked returns the filtered ranks of some facts, whose progress p shows unless it is nil. It ends with what t is within.
func (n *Network) ranked(t *grad.Tape, k *datasets.Knowledge, of *graph.Graph, p *report.Progress) train.Ranks {
	p, answers := p.Part(), 0 // scored so far: of each fact all heads and all tails
	each := func(more int) {
		t.Heed()
		p.Count(answers/(2*n.Count), of.NumEdges(), "facts ranked")
		answers += more
	}
	return knowledge.Ranks(watched{n.Scorer, each}, grad.Const(n.Entities.Value), of, k.Train, k.Val, k.Test)
}

// watched is a scorer that says before each call how many facts it scores.
type watched struct {
	knowledge.Scorer
	each func(facts int)
}

// Forward implements [knowledge.Scorer].
func (s watched) Forward(t *grad.Tape, facts *graph.Graph, x *grad.Var) *grad.Var {
	s.each(facts.NumEdges())
	return s.Scorer.Forward(t, facts, x)
}

// settings returns the settings of a run, or an error for settings that cannot be.
func (c *Training) settings(e cli.Env) (r Recipe, err error) {
	if err := c.Refused(Remedies); err != nil {
		return r, err
	}
	if c.Resume == "" {
		r = RotatE(cli.Or(c.Model, modelRotatE))
	} else {
		n, err := Open(c.Resume)
		if err != nil {
			return r, err
		}
		r = n.Recipe
		if c.At, err = c.Located(e, task.Places{Dataset: r.Dataset, Splits: source.SplitsOwn}); err != nil {
			return r, err
		}
	}
	own := r
	c.Override(&r, "dataset", "epochs", "patience")
	if r.Batch == 0 {
		r.Batch = math.MaxInt32
	}
	r.Dataset = c.Anew(c.Dataset, c.At.Dataset, cmp.Or(r.Dataset, source.Planted))
	if c.Resume == "" {
		c.At = task.Places{Dataset: r.Dataset}
	} else if err := task.SameRun(c.Resume, own, r); err != nil {
		return r, err
	}
	cli.Set(&r.Epochs, c.Epochs)
	cli.Set(&r.Patience, c.Patience)
	if err := r.check(); err != nil {
		return r, err
	}
	if err := c.OutputFlags.Single(c.Seeds); err != nil {
		return r, err
	}
	return r, c.CheckFiles([]cli.File{{Flag: "--dataset", Path: c.At.Dataset}, {Flag: "--resume", Path: c.Resume}})
}

// check returns an error for settings that cannot be.
func (r *Recipe) check() error {
	switch even := r.Model == modelComplEx || r.Model == modelRotatE; {
	case r.Hidden < 1 || r.Hidden > 65536 || even && r.Hidden%2 != 0:
		return cli.Misuse("--hidden %d: want a width from 1 to 65536, and an even one for %s and %s, whose numbers are complex", r.Hidden, modelComplEx, modelRotatE)
	case r.Epochs < 1 || r.Batch < 1 || r.Patience < 0:
		return cli.Misuse("--epochs %d, --batch %d, --patience %d: they must be at least 1, 0 (all facts) and 0 (never)", r.Epochs, r.Batch, r.Patience)
	}
	return cmp.Or(task.CheckRates(r.LR, r.WeightDecay), task.ModelNamed(task.Facts, r.Model, ""))
}

// Remedies say which flags of train a training on facts has no use for, and what to do.
var Remedies = task.Remedies(map[string]string{
	"a fact is a head, a relation and a tail: leave it out":                              "id source target edge-id label weight column repeated directed",
	"facts have no classes: leave it out":                                                "class-weights positive",
	"none is trained beside: leave it out":                                               "no-baseline",
	"it is for --task graph: leave it out":                                               "readout pool",
	"a scorer of facts reads none: leave it out":                                         "no-edge-features",
	"a fact has a direction: leave it out":                                               "undirected",
	"the settings are those of RotatE; --hidden, --lr, --batch and --epochs change them": "preset",
	"name a folder of train.txt, valid.txt and test.txt with --dataset; of a single file, a tenth validates and a tenth tests": "splits",
	"name a folder of train.txt, valid.txt and test.txt with --dataset":                                                        "split-number",
	"the seed divides the facts: --seeds N trains on N divisions":                                                              "folds",
	"entities have no features; the model learns a row for each: leave it out":                                                 "encoding",
	"a scorer of facts has none: leave it out":                                                                                 "heads out-heads residual attention",
	"a scorer of facts has none: --hidden is the width of an entity's row":                                                     "layers",
	"a scorer of facts has no attention: leave it out":                                                                         "attention-dropout",
	"a scorer of facts has none: --weight-decay keeps its rows short":                                                          "dropout",
	"a scorer of facts has no layers: leave it out":                                                                            "residual-linear norm input output",
	"entities have no features, and a row of numbers is learnt for each: leave it out":                                         "features",
	"it is for nodes, edges and graphs: --batch says how many facts a step reads":                                              "accumulate",
	"a step reads facts alone: --batch says how many":                                                                          "fanout",
	"a step reads the rows of its facts: leave it out":                                                                         "rows",
	"an entity that no fact names has no row: leave it out":                                                                    "inductive",
	"the epoch of the best validation MRR is kept: leave it out":                                                               "select",
	"it is for predicting numbers: leave it out":                                                                               "loss",
	"it is for --attention, which a scorer of facts does not have: leave it out":                                               "nodes",
})

// trained is a scorer of facts as a model file has it.
func (n *Network) trained(k *datasets.Knowledge) *models.Trained {
	return &models.Trained{Task: models.Facts, Net: n.FactNetwork, Learnt: &models.Learnt{IDs: entityIDs(k), Relations: k.RelationNames}, Data: models.Source{Name: k.Name}}
}

// entityIDs returns the names of entities, or their numbers.
func entityIDs(k *datasets.Knowledge) []string {
	if len(k.EntityNames) > 0 {
		return k.EntityNames
	}
	ids := make([]string, k.Entities)
	for v := range ids {
		ids[v] = fmt.Sprint(v)
	}
	return ids
}

// The models that the code names.
const (
	modelTransE   = "transe"
	modelDistMult = "distmult"
	modelComplEx  = "complex"
	modelRotatE   = "rotate"
)
