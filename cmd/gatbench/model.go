package main

import (
	"math/rand/v2"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/datasets/cora"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/train"
)

// gat is the network of Veličković and others (2018): two layers of attention,
// the second of which gives the classes.
type gat struct {
	Conv1, Conv2 layers.GATConv
}

// preset is what the paper chose for a dataset.
type preset struct {
	hidden, heads int     // of the first layer
	outHeads      int     // of the second, averaged
	drop          float64 // of features and of attention
	lr, decay     float64
}

func presetOf(dataset string) preset {
	p := preset{hidden: 8, heads: 8, outHeads: 1, drop: 0.6, lr: 5e-3, decay: 5e-4}
	if dataset == "pubmed" {
		p.outHeads, p.lr, p.decay = 8, 1e-2, 1e-3
	}
	return p
}

// newGAT returns an initialised network for features of that width.
func newGAT(p preset, width, classes int, seed uint64) *gat {
	m := &gat{
		Conv1: layers.GATConv{
			In: width, Out: p.hidden, Heads: p.heads, Activation: grad.ELU,
			FeatDrop: p.drop, AttnDrop: p.drop,
		},
		Conv2: layers.GATConv{
			In: p.hidden * p.heads, Out: classes, Heads: p.outHeads, Average: true,
			FeatDrop: p.drop, AttnDrop: p.drop,
		},
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	m.Conv1.Init(rng)
	m.Conv2.Init(rng)
	return m
}

// Forward returns the logits of every node.
func (m *gat) Forward(t *grad.Tape, g *graph.Graph, x *grad.Var) *grad.Var {
	return m.Conv2.Forward(t, g, m.Conv1.Forward(t, g, x))
}

// task is a dataset as the paper's network wants it: every node its own
// neighbour, every row of features of sum one.
type task struct {
	*datasets.Dataset
	preset   preset
	graph    *graph.Graph
	features *grad.Var
	labels   []int32 // of the training nodes
}

// openTask opens a dataset by its name in lower case. Cora comes from the program unless there is a folder
// to read it from.
func openTask(dir, name string) (*task, error) {
	d, err := open(dir, name)
	if err != nil {
		return nil, err
	}
	if len(d.Split.Train) == 0 || len(d.Split.Val) == 0 {
		return nil, misuse("--dataset %s: it has no nodes to choose the best epoch by; cora has", name)
	}
	t := &task{Dataset: d, preset: presetOf(name), graph: d.Graph.WithSelfLoops(), features: grad.Const(d.Normalised())}
	for _, v := range d.Split.Train {
		t.labels = append(t.labels, d.Labels[v])
	}
	return t, nil
}

func open(dir, name string) (*datasets.Dataset, error) {
	if name == "cora" && dir == "" {
		return cora.Load()
	}
	return datasets.Open(dir, name)
}

// fit returns the training of a new network, which it returns too.
func (k *task) fit(seed uint64, epochs int) (*train.Fit, *gat) {
	net := newGAT(k.preset, k.Features.Shape()[1], k.Classes, seed)
	return &train.Fit{
		Model:     net,
		Optimiser: &train.Adam{LR: k.preset.lr, WeightDecay: k.preset.decay},
		Seed:      seed,
		Epochs:    epochs,
		Loss: func(t *grad.Tape) *grad.Var {
			return net.Forward(t, k.graph, k.features).Rows(k.Split.Train).CrossEntropy(k.labels)
		},
		Eval: func(t *grad.Tape) train.Scores {
			logits := net.Forward(t, k.graph, k.features).Value()
			return train.Scores{
				Train: train.Measure(logits, k.Labels, k.Split.Train),
				Val:   train.Measure(logits, k.Labels, k.Split.Val),
				Test:  train.Measure(logits, k.Labels, k.Split.Test),
			}
		},
	}, net
}
