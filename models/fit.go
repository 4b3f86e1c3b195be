package models

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/columns"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// New returns an initialised network of a model for what is to be learnt: the classes, labels or numbers of nodes or edges.
func (k *Data) New(m Model, seed uint64) (*Network, error) {
	if k.Goal == nil {
		return nil, errors.New("models: the data has no classes, labels or numbers to learn: say which column has them")
	}
	if err := k.CheckWeights(TraitsOf(m)); err != nil {
		return nil, fmt.Errorf("models: %w", err)
	}
	s := k.Shape(m, k.Goal.Outputs)
	if k.Pairing != nil {
		return NewEdges(m, s, Pairs{Own: widthOf(k.Pairing.Own), Mirrored: k.Pairing.Mirrored}, seed)
	}
	return New(m, s, seed)
}

// Fit returns the training of a network on the rows of a split that train, all in one step. The epoch of the best validation accuracy
// of 200 is kept. Adam has the rate of the model's paper and a decay of 5e-4; set other fields before Run. [Advise] says
// what suits the data.
//
//	history, err := net.Fit(data, data.Split).Run(ctx)
func (n *Network) Fit(k *Data, s datasets.Split) *train.Fit {
	const limit = 1e6
	of, p := k.Goal.Loss(s.Train, false), k.Needed(n, s.Train)
	loss := func(t *grad.Tape) *grad.Var { return of(n.Run(t, p)) }
	return &train.Fit{
		Model: n, Optimiser: &train.Adam{LR: paperRate(n.Traits()), WeightDecay: paperDecay}, Epochs: paperEpochs, By: train.ByAccuracy, Limit: limit,
		Loss: n.Teach(k.GraphOf(n), 0, loss),
		Eval: func(t *grad.Tape) train.Scores { return k.Goal.Watch(n.Run(t, k.All(n)).Value(), s) },
	}
}

// All is a pass over the whole graph that gives a row for each node, or for each edge.
func (k *Data) All(n *Network) Pass {
	p := n.Whole(k.Hop(n), k.x)
	if k.Pairing != nil {
		p.Ends, p.Rows = k.Pairing.All(), k.Pairing.Of
	}
	return p
}

// Needed is a pass that gives the rows of some nodes, or edges, in their order. Of the rows of each layer only those are computed that
// it depends on, if these are not most of them.
func (k *Data) Needed(n *Network, examples []int32) Pass {
	seeds := examples
	if k.Pairing != nil {
		seeds = k.Pairing.Nodes(examples)
	}
	var p Pass
	if blocks := k.blocks(n, seeds); blocks != nil {
		p = k.pass(n, blocks)
	} else {
		p, seeds = n.Whole(k.Hop(n), k.x), nil
	}
	switch {
	case k.Pairing != nil:
		p.Ends = k.Pairing.Some(examples, seeds)
	case seeds == nil:
		p.Rows = examples
	}
	return p
}

// blocks returns what each layer reads for the sake of some nodes; nil: the whole graph may as well be run, or has to be.
func (k *Data) blocks(n *Network, seeds []int32) []*graph.Graph {
	if n.Traits().Whole != "" || n.Settings.Norm == NormBatch { // its statistics are those of all rows
		return nil
	}
	return graph.Must(sample.Needed(k.seen(n), seeds, len(n.Layers))) // distinct nodes of the graph
}

// seen returns the graph whose blocks a network reads. For a model that looks at no neighbours it has no edges.
func (k *Data) seen(n *Network) *graph.Graph {
	if n.Traits().Alone {
		return graph.Must(graph.New(k.Looped.NumNodes(), nil, nil))
	}
	return k.GraphOf(n)
}

// pass is a pass over blocks of the looped graph, whose rows of features are gathered.
func (k *Data) pass(n *Network, blocks []*graph.Graph) Pass {
	x := k.x
	if src := blocks[0].From().Src; len(src) < k.Looped.NumSrc() || !slices.Equal(src, numbersTo(len(src))) {
		x = grad.Const(datasets.GatherRows(k.Rows, src))
	}
	var weights []*tensor.Dense
	if n.Traits().Symmetric {
		for _, b := range blocks {
			weights = append(weights, pick(k.Symmetric().Value(), b.From().Edges))
		}
	}
	return k.over(n, blocks, weights, x)
}

// over is a pass over blocks, whose edges may have weights.
func (k *Data) over(n *Network, blocks []*graph.Graph, weights []*tensor.Dense, x *grad.Var) Pass {
	p := Pass{Hops: make([]Hop, len(blocks)), X: x}
	for i, b := range blocks {
		p.Hops[i].Graph, p.Hops[i].Edge = b, k.edgesOf(n, b)
		switch {
		case weights == nil:
		case n.Traits().Sums:
			p.Hops[i].Mask = grad.Const(weights[i])
		default:
			p.Hops[i].Weight = grad.Const(weights[i])
		}
	}
	return p
}

// Loader returns what makes the batches that a network reads. The nodes or edges that train, the size of a batch and how many neighbours are
// drawn are to be set. [Data.Batch] is the pass over a batch.
func (k *Data) Loader(n *Network) *sample.Loader {
	l := &sample.Loader{Sampler: sample.Sampler{Graph: k.seen(n)}, Features: k.Rows}
	if n.Traits().Symmetric {
		l.Weights = k.Symmetric().Value()
	}
	if k.Pairing != nil {
		l.Ends = k.Graph
	}
	return l
}

// Batch is a pass that gives the rows of the nodes, or edges, of a batch that [Data.Loader] made.
func (k *Data) Batch(n *Network, b *sample.Batch) Pass {
	p := k.over(n, b.Blocks, b.Weights, grad.Const(b.X))
	if k.Pairing != nil {
		p.Ends = &Ends{b.From, b.To, k.Pairing.Features(b.Edges)}
	}
	return p
}

// Trained returns a network that learnt from the data with what it takes to use it on others.
func (k *Data) Trained(n *Network) *Trained {
	task := Nodes
	if n.Head != nil {
		task = Edges
	}
	m := &Trained{Task: task, Net: n, Schema: k.Schema, Preparation: *k.Preparation, Goal: k.Goal}
	m.Data = Source{Name: k.Name, Digest: m.DigestOf(k.Dataset)}
	return m
}

// Advice is how a network may be made and trained on some data: what [Advise] returns.
type Advice struct {
	Model            Model   // with all its settings
	Deep             bool    // it is deeper than that of its paper, with norms and residuals
	Many             bool    // labels train
	Rate, Decay      float64 // of Adam
	Epochs, Patience int     // no patience: all epochs are trained
	Form             string  // of the features of nodes, as [columns.Scaling] has it
	Metric           string  // by which the epoch is chosen, as [Goal.Usual] says
	Homophily        float64 // of the labels that train; NaN where too few edges tell
	Because          string  // the reason, for people

	seen seen
}

// seen is what advice rests on.
type seen struct {
	asked  Settings // that a model came with
	data   *Data
	rows   int  // that train
	differ bool // neighbours do, in what is learnt
	rare   bool // few of a rare class train
}

const (
	manyLabels  = 100 // on average, of each class, that train
	alike       = 0.3 // the adjusted homophily below which neighbours differ
	enoughEdges = 50  // between nodes that train, for homophily to say anything
	fewRare     = 300 // of the rarer of two classes, which train
)

// Advise returns the network and the training that suit some data, of which the rows of a split train. It is of a model, whose settings stay as
// far as it has any, or, if m is nil, of [GAT].
//
// Where the examples are rows of a table, one of two classes has less than a fifth of those that train, edges have features, and m is nil, it is a
// [Transformer], whose messages hold these features; GAT reads them only to weigh neighbours. If less than 300 nodes of the rarer class train, the
// network is of one layer and decays much: deeper ones learn so few by heart.
//
// Where few examples train, less than 100 of a class on average, the network is that of the model's paper: it is narrow and drops and decays
// much, so that it does not learn them by heart. Where there are more, or neighbours differ, it is deeper, with norms and residuals, which keep what is known of
// a node itself apart from its neighbours. Neighbours differ if the adjusted homophily of the labels that train is below 0.3; see
// [datasets.Dataset.Homophily]. Of the labels only those that train are looked at.
//
//	a := models.Advise(data, data.Split, nil)
//	net, err := data.New(a.Model, 1)
//	history, err := a.Fit(net, data, data.Split).Run(ctx)
func Advise(k *Data, s datasets.Split, m Model) Advice {
	rarer, rare := k.rarer(s)
	switch {
	case m == nil && rare && k.EdgeFeatures != nil:
		m = Transformer{}
	case m == nil:
		m = GAT{}
	}
	classes, labels := 1, "labels: %d training %ss"
	if k.Goal.Kind == columns.OneClass {
		classes, labels = max(1, k.Goal.Outputs), labels+" per class"
	}
	each := len(s.Train) / classes
	labels = fmt.Sprintf(labels, each, k.Goal.Of)
	_, own := m.is()
	a := Advice{Model: m, Metric: k.Goal.Usual(s), Homophily: math.NaN(), Many: each >= manyLabels, seen: seen{asked: own, data: k, rows: len(s.Train), rare: rare && k.Pairing == nil && rarer < fewRare}}
	if k.Pairing == nil {
		if h, edges := k.Homophily(s.Train); edges >= enoughEdges {
			a.Homophily, a.seen.differ = h, h < alike
		}
	}
	switch {
	case a.seen.rare:
		a.Because = fmt.Sprintf("few of the rarer class: %d of them train", rarer)
	case a.seen.differ:
		what := "adjusted homophily of the training labels"
		if k.Goal.Kind != columns.OneClass {
			what = "correlation of training neighbours"
		}
		a.Because = fmt.Sprintf("neighbours differ: the %s is %.2f", what, math.Round(100*a.Homophily)/100+0) // no -0.00
		if t := TraitsOf(m); !t.Has("Norm") {
			a.Because += fmt.Sprintf(", and %s has settings of its own", t.Title)
		}
	case a.Many:
		a.Because = "many " + labels
	default:
		a.Because = "few " + labels
		return a.paper()
	}
	if _, is := m.(Transformer); is && rare && k.EdgeFeatures != nil {
		a.Because += "; a Transformer's messages hold the columns of edges"
	}
	return a.Deeper()
}

// rarer is how many of the rarer of two classes train, and reports whether it is rare and the examples are rows of a table.
func (k *Data) rarer(s datasets.Split) (n int, rare bool) {
	if k.Goal.Usual(s) != metricAP || k.Pairing == nil && !k.FeatureKind().Columns {
		return 0, false
	}
	return slices.Min(k.Goal.counted(s.Train)), true
}

// paper is the advice to take the settings of the model's paper.
func (a Advice) paper() Advice {
	var p Preparation
	p.Suit(a.seen.data.Dataset)
	a.Model, a.Form = With(a.Model, SettingsOf(a.Model)), p.Features.Form
	a.Rate, a.Decay, a.Epochs = paperRate(TraitsOf(a.Model)), paperDecay, paperEpochs
	return a
}

// What [Network.Fit] takes.
const (
	paperDecay  = 5e-4
	paperEpochs = 200
)

func paperRate(m Traits) float64 {
	if m.Has("Heads") {
		return 0.005
	}
	return 0.01
}

// Deeper is the same advice for a deeper network with norms and residuals, whatever the data. Of a model that has none it is that of the paper.
func (a Advice) Deeper() Advice {
	t, see := TraitsOf(a.Model), &a.seen
	if !t.Has("Norm") {
		return a.paper()
	}
	const width = 64
	s := Settings{Hidden: width, Layers: 3, Dropout: 0.5, AttentionDropout: grad.Zero, Norm: NormLayer, ResidualLinear: true, Output: true}
	a.Deep, a.Rate, a.Decay, a.Epochs, a.Patience = true, 0.005, 5e-5, 500, 100
	heads := 1
	switch {
	case see.rare:
		s.Layers, s.Hidden, s.Input, heads, s.AttentionDropout, a.Rate, a.Decay = 1, 2*width, width/2, 4, 0.5, 0.01, 1e-2
	case see.rows < few:
		s.Layers, s.Input, heads, a.Rate, a.Decay = 2, width, 4, 0.01, 1e-2
	case see.differ:
		s.Layers, s.Input, heads, s.Dropout, s.Norm, a.Rate, a.Decay = 6, width, 4, 0.4, NormBatch, 0.01, 0
	}
	if t.Whole == readsFar {
		s.Layers = SettingsOf(a.Model).Layers
	}
	if t.Has("Heads") {
		s.Hidden, s.Heads, s.OutHeads = s.Hidden/heads, heads, 1
	}
	a.Model = With(a.Model, see.asked.filled(s))
	a.Model, a.Form = With(a.Model, SettingsOf(a.Model)), scaleOf(see.data)
	return a
}

// few is how many examples are too few for more than two layers.
const few = 1000

// scaleOf returns the form of features for networks that have norms: a matrix of numbers of a large scale is standardised, and all else
// stays as it is.
func scaleOf(k *Data) string {
	kind := k.FeatureKind()
	if _, large := k.LargestDeviation(); large && !kind.Words() && !kind.Columns {
		return columns.Standard
	}
	return columns.Raw
}

// Fit returns the training of a network that was made of the advice: [Network.Fit] with its rate, decay and length.
func (a Advice) Fit(n *Network, k *Data, s datasets.Split) *train.Fit {
	f := n.Fit(k, s)
	f.Optimiser, f.Epochs, f.Patience = &train.Adam{LR: a.Rate, WeightDecay: a.Decay}, a.Epochs, a.Patience
	return f
}
