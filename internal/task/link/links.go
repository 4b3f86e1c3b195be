package link

import (
	"fmt"
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/ranks"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/train"
)

// Recipe is all that a training on links depends on beside the data.
type Recipe struct {
	Dataset  string         `flag:"dataset"`
	Columns  source.Columns `flag:"column" json:",omitzero"`
	Model    string         `flag:"model"`
	Seed     uint64         `flag:"seed"`
	Hidden   int            `flag:"hidden"`
	Out      int            `flag:"hidden"`
	LR       float64        `flag:"lr"`
	Epochs   int            `flag:"epochs"`
	Drawn    int            // negatives a step, for each link
	Once     bool           // a pair counts once and no node is linked to itself; else a pair counts in both directions
	Bias     bool           // the convolutions have one
	Degrees  bool           `json:",omitempty"` // as models.LinkSettings has it, and Directed
	Directed bool           `json:",omitempty"`
	Val      float64        // share of the links
	Test     float64
	Splits   string    `flag:"splits" json:",omitempty"` // by time; empty: the shares
	Features task.Form `flag:"features"`
	Encoding string    `flag:"encoding" json:",omitempty"` // of the graph of the links that train

	WeightDecay float64 `flag:"weight-decay"`
	Patience    int     `flag:"patience"`
	Layers      int     `flag:"layers" json:",omitempty"` // propagations, of LightGCN
	Batch       int     `flag:"batch" json:",omitempty"`  // links a step, of LightGCN
}

// Kipf returns the settings of Kipf and Welling, 2016, but for 300 epochs instead of 200
// and for the negatives: theirs
// are all pairs without a link.
func Kipf() Recipe {
	return Recipe{Model: modelGAE, Hidden: 32, Out: 16, LR: 0.01, Epochs: 300, Drawn: 10, Val: 0.05, Test: 0.1}
}

// Example returns the settings of PyG's examples/autoencoder.py.
func Example() Recipe {
	r := Kipf()
	r.Epochs, r.Drawn, r.Once, r.Bias, r.Features = 200, 1, true, true, task.FormRows
	return r
}

// Autoencoder is a network that gives each node a row, and how it was trained. Its file holds the recipe, from which the layers
// are made again.
type Autoencoder struct {
	Task   string // task.Link: its file says so
	Recipe Recipe
	In     int // features, or where rows are learnt nodes
	Users  int `json:",omitempty"` // nodes before it are users, the others items; 0: any two nodes may be linked

	Codes []columns.Code `json:",omitempty"` // the columns among the features that hold codes

	*models.LinkNetwork `json:"-"`
}

// newAutoencoder returns a network for the features of a task, or its nodes.
func newAutoencoder(r *Recipe, k *Links) *Autoencoder {
	a := &Autoencoder{Task: task.Link, Recipe: *r, In: k.width(), Users: k.users}
	if k.features != nil {
		a.Codes = k.data.Codes
	}
	a.Build()
	return a
}

// plan returns the network that the recipe asks for, without its Params.
func (a *Autoencoder) plan() *models.LinkNetwork {
	r := &a.Recipe
	s := models.LinkSettings{Hidden: r.Hidden, Layers: r.Layers}
	if r.Model != modelLightGCN {
		s = models.LinkSettings{Hidden: r.Hidden, Out: r.Out, Bias: r.Bias, Degrees: r.Degrees, Directed: r.Directed}
	}
	return &models.LinkNetwork{Model: r.Model, Settings: s, In: a.In, Codes: a.Codes}
}

// Build makes the layers that the recipe asks for.
func (a *Autoencoder) Build() {
	a.LinkNetwork = a.plan()
	a.Init(rand.New(rand.NewPCG(a.Recipe.Seed, 0)))
}

// fits reports a model of more numbers than a file of that many bytes has.
func (a *Autoencoder) fits(bytes int64) error { return models.Fits(a.plan().Numbers(), bytes) }

// Links is a graph whose links are to be predicted.
type Links struct {
	*sample.Links
	along    *graph.Graph // what messages go along; of autoencoders every node is its own neighbour
	features *grad.Var    // nil: rows are learnt
	users    int          // nodes before it are users, the others items; 0: any two nodes may be linked
	oneWay   bool         // links lead from one node to another; else both are alike
	data     *datasets.Dataset
	prepared models.Preparation // of its features
	team     *ranks.Team        // of the ranks that share the training; nil: this process is alone
}

// width returns how many features there are, or nodes where rows are learnt.
func (k *Links) width() int {
	if k.features == nil {
		return k.along.NumNodes()
	}
	return k.features.Dim(1)
}

// NewLinks divides the links of a dataset, both directions of which are one unless the recipe says Directed, and
// brings its features into a form, beside which its encodings stand: that of a model, or if that is nil the recipe's.
func NewLinks(data Source, r *Recipe, p *models.Preparation) (*Links, error) {
	d := data.Dataset
	if !r.Directed && !d.Graph.Symmetric() {
		d = d.Undirected()
	}
	links, err := r.divided(d, data.users)
	if err != nil {
		return nil, err
	}
	if r.Model == modelLightGCN {
		return &Links{Links: links, along: links.Graph, users: data.users, data: d}, nil
	}
	if p == nil {
		p = &models.Preparation{Features: columns.Scaling{Form: string(r.Features)}, NoEdges: true}
	}
	both := links.Graph // without the links that validate and test, which would give themselves away
	if r.Directed {
		both = graph.Undirected(both)
	}
	own := *p
	own.Encoding = r.Encoding
	k, err := models.Prepare(&datasets.Dataset{Graph: both, Features: d.Features, Codes: d.Codes}, &own) // on all nodes, which are known
	if err != nil {
		return nil, err
	}
	return &Links{Links: links, along: graph.WithSelfLoops(links.Graph), features: grad.Const(k.Rows), oneWay: r.Directed, data: d, prepared: own}, nil
}

// divided divides the links of a dataset: by shares, or by time.
func (r *Recipe) divided(d *datasets.Dataset, users int) (*sample.Links, error) {
	split := sample.LinkSplit{Val: r.Val, Test: r.Test, Users: users, Directed: r.Directed, Seed: r.Seed}
	if r.Splits == "" {
		const least = 20 // so that a twentieth is one
		links := d.Graph.NumEdges()
		if !r.Directed {
			links /= 2
		}
		if links < least {
			return nil, fmt.Errorf("its %d links are too few to be divided, %g %% of which validate and %g %% test: want at least %d", links, 100*r.Val, 100*r.Test, least)
		}
		return split.Of(d.Graph)
	}
	column, until, err := datasets.ParseTime(r.Splits)
	if err != nil {
		return nil, cli.Misuse("--splits %.100s: %w", r.Splits, err)
	}
	s, err := d.EdgesByTime(column, until)
	if err != nil {
		return nil, cli.Misuse("--splits %.100s: %w", r.Splits, err)
	}
	return split.By(d.Graph, s.Train, s.Val, s.Test)
}

// NewFit returns the training of a new network. As in the authors' code, links and negatives
// weigh the same, and unless they count once a node and itself are linked. The epoch of the best AUC of the links to
// validate with is kept.
func (k *Links) NewFit(r *Recipe) (*train.Fit, *Autoencoder) {
	if r.Model == modelLightGCN {
		return k.fitRows(r)
	}
	net := newAutoencoder(r, k)
	nodes, there, share := float64(k.along.NumNodes()), k.along, 0.5
	if r.Once {
		there, share = k.Train, 1
	}
	steps, there := k.team.Size(), k.part(there)
	return &train.Fit{
		Steps: steps, Team: k.team, Weight: func() float64 { return float64(there.NumEdges()) },
		Model: net, Optimiser: &train.Adam{LR: r.LR, WeightDecay: r.WeightDecay}, Seed: r.Seed, Epochs: r.Epochs, Patience: r.Patience, By: train.ByAccuracy, Limit: task.MaxLoss,
		Loss: func(t *grad.Tape) *grad.Var {
			z, divergence := net.Encode(t, k.along, k.features)
			negatives := graph.Must(k.Draw.Draw(max(1, min(r.Drawn*k.Train.NumEdges(), k.Draw.Left())/steps), t.Step()))
			loss := net.LinkNetwork.Loss(t, there, negatives, z).Scale(share)
			if divergence == nil {
				return loss
			}
			return loss.Add(divergence.Scale(1 / nodes))
		},
		Eval: k.validate(net),
	}, net
}

// part is this rank's share of links, which it scores; all ranks encode all nodes.
func (k *Links) part(links *graph.Graph) *graph.Graph {
	ranks := k.team.Size()
	if ranks == 1 {
		return links
	}
	lo, hi := k.team.Rank()*links.NumEdges()/ranks, (k.team.Rank()+1)*links.NumEdges()/ranks
	return graph.Must(graph.New(links.NumNodes(), links.In().Cols[lo:hi], links.Destinations()[lo:hi]))
}

// validate returns what scores a network on the links to validate with.
func (k *Links) validate(net *Autoencoder) func(t *grad.Tape) train.Scores {
	return func(t *grad.Tape) train.Scores {
		auc, _ := k.measure(t, net, k.Val)
		return train.Scores{Val: train.Score{Accuracy: auc}}
	}
}

// measure scores a network on links and as many pairs that are none.
func (k *Links) measure(t *grad.Tape, net *Autoencoder, p sample.Pairs) (auc, precision float64) {
	z, _ := net.Encode(t, k.along, k.features)
	var scores []float64
	var positive []bool
	for _, part := range []*graph.Graph{p.Links, p.Negatives} {
		for _, v := range net.Forward(t, part, z).Value().Data {
			scores, positive = append(scores, float64(v)), append(positive, part == p.Links)
		}
	}
	return train.AUC(scores, positive), train.AveragePrecision(scores, positive)
}

// Remedies say which flags of train a training on links has no use for, and what to do.
var Remedies = task.Remedies(map[string]string{
	"links are predicted, and no column: leave it out":                                    "label",
	"links have no classes: leave it out":                                                 "class-weights positive",
	"none is trained beside: leave it out":                                                "no-baseline",
	"it is for --task graph: leave it out":                                                "readout pool",
	"a graph autoencoder reads none: leave it out":                                        "no-edge-features",
	"links are taken in both directions anyway: leave it out":                             "undirected",
	"the settings are those of Kipf and Welling; --hidden, --lr and --epochs change them": "preset",
	"the seed divides the links: use --seed or --seeds for other divisions":               "split-number",
	"the seed divides the links: --seeds N trains on N divisions":                         "folds",
	"a graph autoencoder has none: leave it out":                                          "heads out-heads residual dropout attention",
	"a graph autoencoder has two layers: --hidden is the width of the first":              "layers",
	"a graph autoencoder has no attention: leave it out":                                  "attention-dropout",
	"a graph autoencoder has two layers without parts around them: leave it out":          "residual-linear norm input output",
	"a step reads the whole graph: leave it out":                                          "fanout",
	"a step computes all rows: leave it out":                                              "rows",
	"a step reads all links: leave it out":                                                "batch accumulate",
	"test links never carry messages: leave it out":                                       "inductive",
	"the epoch of the best validation AUC is kept: leave it out":                          "select",
	"it is for predicting numbers: leave it out":                                          "loss",
	"it is for --attention, which an autoencoder does not have: leave it out":             "nodes",
})

// trained is a network of links as a model file has it.
func (k *Links) trained(a *Autoencoder) *models.Trained {
	d := k.data
	m := &models.Trained{Task: models.Links, Net: a.LinkNetwork, Schema: d.Schema}
	m.Data = models.Source{Name: d.Name, Digest: m.DigestOf(d)}
	if a.Rows != nil {
		m.Learnt = &models.Learnt{IDs: task.NodeIDs(d), Users: k.users}
		return m
	}
	m.Preparation = k.prepared
	return m
}

// The models that the code names.
const (
	modelLightGCN = "lightgcn"
	modelGAE      = "gae"
)
