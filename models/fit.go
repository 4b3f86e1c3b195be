package models

import (
	"errors"
	"fmt"
	"slices"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/sample"
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
// of 200 is kept. Adam has the rate of the model's paper and a decay of 5e-4; set other fields before Run.
//
//	history, err := net.Fit(data, data.Split).Run(ctx)
func (n *Network) Fit(k *Data, s datasets.Split) *train.Fit {
	const decay, limit = 5e-4, 1e6
	rate := 0.01
	if m := n.Traits(); m.Has("Heads") {
		rate = 0.005
	}
	of, p := k.Goal.Loss(s.Train, false), k.Needed(n, s.Train)
	loss := func(t *grad.Tape) *grad.Var { return of(n.Run(t, p)) }
	return &train.Fit{
		Model: n, Optimiser: &train.Adam{LR: rate, WeightDecay: decay}, Epochs: 200, By: train.ByAccuracy, Limit: limit,
		Loss: n.Teach(k.GraphOf(n), 0, loss),
		Eval: func(t *grad.Tape) train.Scores { return k.Goal.Watch(n.Run(t, k.All(n)).Value(), s) },
	}
}

// All is a pass over the whole graph that gives a row for each node, or for each edge.
func (k *Data) All(n *Network) Pass {
	p := n.Whole(k.Hop(n), grad.Const(k.Rows))
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
		p, seeds = n.Whole(k.Hop(n), grad.Const(k.Rows)), nil
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
	g, m := k.GraphOf(n), n.Traits()
	switch {
	case m.Whole != "":
		return nil
	case m.Alone:
		g = graph.Must(graph.New(g.NumNodes(), nil, nil))
	}
	return graph.Must(sample.Needed(g, seeds, len(n.Layers))) // distinct nodes of the graph
}

// pass is a pass over blocks of the looped graph, whose rows of features are gathered.
func (k *Data) pass(n *Network, blocks []*graph.Graph) Pass {
	p := Pass{Hops: make([]Hop, len(blocks)), X: grad.Const(k.Rows)}
	if src := blocks[0].From().Src; len(src) < k.plain.NumSrc() || !slices.Equal(src, numbersTo(len(src))) {
		p.X = grad.Const(datasets.GatherRows(k.Rows, src))
	}
	for i, b := range blocks {
		p.Hops[i].Graph, p.Hops[i].Edge = b, k.edgesOf(n, b)
		if n.Traits().Symmetric {
			p.Hops[i].Weight = k.Symmetric().Rows(b.From().Edges)
		}
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
