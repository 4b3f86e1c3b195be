package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// task is a dataset as the networks want it: every node its own neighbour, the
// features in the form that suits them. It may be trained on by several goroutines
// at once.
type task struct {
	*datasets.Dataset
	name     string // on a command line
	split    datasets.Split
	graph    *graph.Graph
	words    datasets.FeatureKind // what the features are like, as published
	form     form                 // that the networks get them in
	rows     tensor.Array         // the features in that form
	features *grad.Var            // the same
	near     *nearby              // of the split
	weights  *grad.Var            // of the graph's edges, over the roots of their sums at both ends; nil: all are 1
}

// openTask opens a dataset, as open does, with a split of it; undirected takes both
// directions of each of its edges.
func openTask(dir, name string, undirected bool, c choice) (*task, error) {
	d, err := open(dir, name)
	if err != nil {
		return nil, err
	}
	switch {
	case d.MultiLabels != nil:
		return nil, misuse("--dataset %s: its nodes may have several of its %d classes, and training wants one: give it labels of a class a node", name, d.Classes)
	case d.Targets != nil:
		return nil, misuse("--dataset %s: its nodes have numbers to be learnt, and training wants classes", name)
	case len(d.Labels) == 0:
		return nil, misuse("--dataset %s: its nodes have no classes to be learnt", name)
	}
	if undirected {
		d = d.Undirected()
	}
	k := newTask(d)
	k.name = name
	return k, k.setSplit(c)
}

// newTask makes a task of a dataset, with the split that it has.
func newTask(d *datasets.Dataset) *task {
	looped := d.WithSelfLoops()
	k := &task{Dataset: d, split: d.Split, graph: looped.Graph, near: new(nearby), words: d.FeatureKind()}
	if w := looped.Weights; w != nil {
		k.weights = layers.SymmetricWeights(k.graph, grad.Const(tensor.Of(w, len(w), 1)))
	}
	if err := k.use(formOf(k.words)); err != nil {
		panic(err) // words are not negative
	}
	return k
}

// open returns the dataset that datasetNamed names, or else reads the file or folder
// of that name. Cora comes from the program unless --data names a folder.
func open(dir, name string) (*datasets.Dataset, error) {
	if dir != "" && !isFolder(dir) {
		return nil, misuse("--data %s: there is no such folder", dir)
	}
	if name == "cora" && dir == "" {
		return cora.Load()
	}
	d, err := datasets.Open(dir, name)
	if missing := (*datasets.MissingError)(nil); errors.As(err, &missing) && datasets.Sources(missing.Name) != nil {
		missing.Get = fmt.Sprintf("get it with %s data fetch %s", program, missing.Name)
	}
	if !errors.As(err, new(*datasets.UnknownError)) {
		return d, err
	}
	own, readErr := datasets.Read(name)
	if errors.Is(readErr, fs.ErrNotExist) && !strings.ContainsAny(name, `/\.`) {
		if _, isText := textNamed(name); isText {
			return nil, misuse("%s is a dataset of text, and no graph with features: %s demo says which model reads it", name, program)
		}
		return nil, err // a name, and not that of a file
	}
	return own, readErr
}

// where returns where open finds a dataset, "" if it does not.
func where(dir, name string) string {
	path, err := datasets.Find(dir, name)
	switch {
	case name == "cora" && dir == "", name == "karate":
		return "this program"
	case errors.As(err, new(*datasets.UnknownError)):
		return name
	}
	return path
}

// datasetNamed returns a dataset's name in lower case, as it is known, or that of a
// file or folder as it stands.
func datasetNamed(name string) string {
	if lower := strings.ToLower(name); slices.Contains(datasets.Names(), lower) {
		return lower
	}
	return name
}

// setSplit takes the split that is chosen.
func (k *task) setSplit(c choice) error {
	s, err := splitOf(k.Dataset, c)
	if err != nil {
		return err
	}
	if len(s.Train) == 0 || len(s.Val) == 0 {
		return misuse("--dataset %s: it has no nodes to choose the best epoch by; cora has, and --splits random gives it some", k.name)
	}
	k.split, k.near = s, new(nearby)
	return nil
}

// labelsOf returns the classes of nodes.
func (k *task) labelsOf(nodes []int32) []int32 {
	out := make([]int32, len(nodes))
	for i, v := range nodes {
		out[i] = k.Labels[v]
	}
	return out
}

// measure scores logits on each part of the split.
func (k *task) measure(logits *tensor.Dense) train.Scores {
	return train.Scores{
		Train: train.Measure(logits, k.Labels, k.split.Train),
		Val:   train.Measure(logits, k.Labels, k.split.Val),
		Test:  train.Measure(logits, k.Labels, k.split.Test),
	}
}

// maxLoss is a cross-entropy beyond which nothing is learnt any more.
const maxLoss = 1e6

// watch is measure without the losses that nobody asks for after each epoch.
func (k *task) watch(logits *tensor.Dense) train.Scores {
	return train.Scores{
		Train: train.Score{Accuracy: train.Accuracy(logits, k.Labels, k.split.Train)},
		Val:   train.Measure(logits, k.Labels, k.split.Val),
		Test:  train.Score{Accuracy: train.Accuracy(logits, k.Labels, k.split.Test)},
	}
}

// fit returns the training of a new network, which it returns too.
func (k *task) fit(r recipe) (*train.Fit, *network, error) {
	if err := k.checkWeights(r.model()); err != nil {
		return nil, nil, err
	}
	net, err := newNetwork(r, k.Features.Shape()[1], k.Classes)
	if err != nil {
		return nil, nil, err
	}
	by, _, _ := criterion(r.Select)
	f := &train.Fit{
		Model: net, Optimiser: r.optimiser(net), Seed: r.Seed, Epochs: r.Epochs, Patience: r.Patience, By: by, Limit: maxLoss,
		Eval: func(t *grad.Tape) train.Scores { return k.watch(net.Forward(t, k.hop(net), k.features).Value()) },
	}
	if r.Batch > 0 {
		l := k.loader(net)
		f.Steps, f.Loss = l.Steps(), k.lossOfBatch(net, l)
		return f, net, l.Check()
	}
	f.Loss = k.lossOf(net)
	return f, net, nil
}

// fits returns an error if a network in a file, which was trained on another
// dataset perhaps, is not for this one.
func (k *task) fits(n *network, path, trained string) error {
	if w := k.Features.Shape()[1]; n.In != w || n.Classes != k.Classes {
		return fmt.Errorf("%s is a model for %d features and %d classes (it was trained on %s); %s has %d and %d: name its dataset with --dataset",
			path, n.In, n.Classes, trained, k.Name, w, k.Classes)
	}
	return nil
}
