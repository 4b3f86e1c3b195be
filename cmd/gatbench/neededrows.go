package main

import (
	"sync"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
)

// lossOf returns the loss of all training nodes, or edges, at once. Of the rows of each layer
// only those are computed that it depends on: of the last the training nodes', of
// the one before those and their in-neighbours', and so on. The others would be
// neither seen by the loss nor get a gradient, so loss and gradients are those of
// the whole graph; where few nodes train they are most of the work.
func (k *task) lossOf(net *network) func(t *grad.Tape) *grad.Var {
	of, p := k.goal.loss(net.Recipe.Loss, k.split.Train), k.needed(net)
	loss := func(t *grad.Tape) *grad.Var { return of(net.Run(t, p)) }
	return net.Teach(k.graph, net.Recipe.Seed, loss)
}

// needed returns what a network computes for the training nodes' sake: all rows if
// the recipe asks for them, if a layer looks several hops far, or if the others
// would save little.
func (k *task) needed(net *network) models.Pass {
	if net.Recipe.Rows != rowsAll && net.Recipe.model().Whole == "" {
		if p := k.near.of(net, k); p.Hops != nil {
			return p
		}
	}
	return k.every(net)
}

// every is needed with all rows.
func (k *task) every(net *network) models.Pass {
	p := net.Whole(k.hop(net), k.features)
	if k.pairs != nil {
		p.Ends = k.pairs.Some(k.split.Train, nil)
	} else {
		p.Rows = k.split.Train
	}
	return p
}

// nearby keeps what the networks of a task and a split need: it is the same for all
// seeds, which may train side by side.
type nearby struct {
	mu     sync.Mutex
	passes map[nearKey]models.Pass
}

// nearKey is what of a network decides what it needs.
type nearKey struct {
	layers           int
	symmetric, alone bool
	edges            bool // features of edges are read
}

func (n *nearby) of(net *network, k *task) models.Pass {
	m := net.Recipe.model()
	key := nearKey{len(net.Layers), m.Symmetric, m.Alone, net.Recipe.EdgeIn > 0}
	n.mu.Lock()
	defer n.mu.Unlock()
	p, ok := n.passes[key]
	if !ok {
		p = k.few(net)
		if n.passes == nil {
			n.passes = map[nearKey]models.Pass{}
		}
		n.passes[key] = p
	}
	return p
}

// few is a pass over what the training nodes need, whose features are gathered if
// they are not nearly all; no hops if the whole graph may as well be run.
func (k *task) few(net *network) models.Pass {
	g, w := k.seen(net)
	seeds := k.split.Train
	if k.pairs != nil {
		seeds = k.pairs.Nodes(seeds)
	}
	blocks := graph.Must(sample.Needed(g, seeds, len(net.Layers))) // distinct nodes of the graph
	if blocks == nil {
		return models.Pass{}
	}
	x := k.features
	if blocks[0].NumSrc() < g.NumSrc() {
		x = grad.Const(datasets.GatherRows(k.rows, blocks[0].From().Src))
	}
	var weights []*tensor.Dense
	if w != nil {
		for _, b := range blocks {
			part := tensor.New(b.NumEdges(), 1)
			tensor.GatherRows(part, w, b.From().Edges)
			weights = append(weights, part)
		}
	}
	p := k.passOf(net, blocks, weights, x)
	if k.pairs != nil {
		p.Ends = k.pairs.Some(k.split.Train, seeds)
	}
	return p
}
