package peers

import (
	"cmp"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/gatbench/bench/trainings"
	"github.com/edgewise-ml/edgewise/internal/task"
	graphs "github.com/edgewise-ml/edgewise/internal/task/graph"
	"github.com/edgewise-ml/edgewise/internal/task/link"
	"github.com/edgewise-ml/edgewise/internal/task/node"
	"github.com/edgewise-ml/edgewise/internal/task/source"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
	"github.com/edgewise-ml/edgewise/train"
)

// Trainings are trainings with the peers' settings.
var Trainings = trainings.Source{
	Fit: func(s trainings.Settings, model, dataset string) (*train.Fit, error) {
		k, r, err := open(s, model, dataset)
		if err != nil {
			return nil, err
		}
		fit, _, err := k.NewFit(r)
		return fit, err
	},
	GAT: func(s trainings.Settings, dataset string) (func() (*trainings.GAT, error), error) {
		k, r, err := open(s, "gat", dataset)
		if err != nil {
			return nil, err
		}
		r.Rows = node.RowsNeeded // all of them are one of the ablations
		return func() (*trainings.GAT, error) { return newGAT(k, r) }, nil
	},
	Links: func(s trainings.Settings, dataset string) (*train.Fit, error) {
		d, err := source.OpenData(s.Data, dataset, source.Columns{})
		if err != nil {
			return nil, err
		}
		r := link.Example()
		r.Seed, r.Epochs = s.Seed, s.Epochs
		k, err := link.NewLinks(link.Source{Dataset: d}, &r, nil)
		if err != nil {
			return nil, err
		}
		fit, _ := k.NewFit(&r)
		fit.Eval, fit.By = nil, train.ByLast
		return fit, nil
	},
	Graphs: func(s trainings.Settings, dataset string, batch, hidden int) (*train.Fit, error) {
		k, err := graphs.OpenGraphs(s.Data, dataset, &graphs.Recipe{})
		if err != nil {
			return nil, err
		}
		r := graphs.GIN()
		r.Seed, r.Epochs, r.Batch, r.Hidden, r.Steps = s.Seed, s.Epochs, batch, hidden, 0
		f := new(train.Fit)
		_, _, err = k.NewFit(f, r, datasets.Split{Train: k.All()})
		return f, err
	},
}

// newGAT returns a new GAT that learns a task.
func newGAT(k *node.Examples, r node.Recipe) (*trainings.GAT, error) {
	net, err := node.NewNetwork(r, k.Features.Shape()[1], k.Classes)
	if err != nil {
		return nil, err
	}
	out := &trainings.GAT{
		Optimiser: r.Optimiser(net), Seed: r.Seed, Labels: k.Goal.OnlyOf(k.Parts.Train).Labels,
		Needed: passOf(k.Needed(net)), All: passOf(k.Every(net)), Whole: passOf(net.Whole(k.Hop(net.Network), k.All(net.Network).X)),
		Watch: func(logits *tensor.Dense) { k.Goal.Watch(logits, k.Parts) },
	}
	for _, l := range net.Layers {
		out.Layers = append(out.Layers, l.(interface{ Conv() *layers.GATConv }).Conv())
	}
	return out, out.Optimiser.Bind(net)
}

// passOf returns a pass without the weights of its edges, which GAT does not read.
func passOf(p models.Pass) trainings.Pass {
	out := trainings.Pass{X: p.X, Rows: p.Rows}
	for _, h := range p.Hops {
		out.Graphs = append(out.Graphs, h.Graph)
	}
	return out
}

// open returns the task and the settings of a training as PyG's examples
// have them, which the peers' scripts follow: one output head, also on PubMed; of
// SAGE, for which there is no such example, those of GCN, without self-loops.
func open(s trainings.Settings, model, dataset string) (*node.Examples, node.Recipe, error) {
	r, err := node.NewRecipe("pyg", model, dataset)
	if err != nil {
		return nil, r, err
	}
	r.OutHeads, r.Select, r.Epochs, r.Seed = 1, "last", s.Epochs, s.Seed
	r.Rows = node.Extent(s.Rows)
	d, err := source.OpenData(s.Data, dataset, source.Columns{})
	if err != nil {
		return nil, r, err
	}
	if len(d.Split.Train) == 0 {
		d.Split = perClass(d.Labels, d.Classes)
	}
	k := node.NewExamples(d)
	r.Features = task.FormRows // as the peers' scripts have them
	if err := k.Suit(&r); err != nil {
		return nil, r, err
	}
	if model == "sage" {
		k.Looped = d.Graph
	}
	return k, r, nil
}

// perClass is the split that the peers' scripts draw for datasets without one.
// Nodes are taken in the order of v·2654435761 mod 2³²; of each class the first
// 20 are for training, the next 30 for validation and the others for testing.
func perClass(labels []int32, classes int) datasets.Split {
	nodes := make([]int32, len(labels))
	for v := range nodes {
		nodes[v] = int32(v)
	}
	slices.SortFunc(nodes, func(a, b int32) int { return cmp.Compare(uint32(a)*2654435761, uint32(b)*2654435761) })
	var s datasets.Split
	seen := make([]int, classes)
	for _, v := range nodes {
		c := labels[v]
		if c < 0 {
			continue // it has no class
		}
		switch n := seen[c]; {
		case n < 20:
			s.Train = append(s.Train, v)
		case n < 50:
			s.Val = append(s.Val, v)
		default:
			s.Test = append(s.Test, v)
		}
		seen[c]++
	}
	for _, part := range [][]int32{s.Train, s.Val, s.Test} {
		slices.Sort(part)
	}
	return s
}

// ReadGraph reads what is no matrix, in any form that is read: a dataset by its name, a file or a
// folder. Of many graphs it is all of them side by side, of users and items, or of facts, the links
// between them.
func ReadGraph(data, name string) (*graph.Graph, []tensor.Float, error) {
	if source.HoldsGraphs(data, name) {
		d, err := source.OpenGraphs(data, name, "")
		if err != nil {
			return nil, nil, err
		}
		return d.Graph, nil, nil
	}
	if source.IsFacts(data, name) {
		d, err := source.ReadFacts(data, name)
		if err != nil {
			return nil, nil, err
		}
		return d.Train, nil, nil
	}
	if path := source.InteractionsIn(data, name); path != "" {
		d, err := datasets.LoadInteractions(path)
		if err != nil {
			return nil, nil, err
		}
		return d.Graph, nil, nil
	}
	d, err := source.OpenData(data, source.DatasetNamed(name), source.Columns{})
	if err != nil {
		return nil, nil, err
	}
	return d.Graph, d.Weights, nil
}
