package main

import (
	"github.com/edgewise-ml/edgewise/grad"
)

// lossOf returns the loss of all training nodes at once. Of the rows of each layer
// only those are computed that it reads: of the last the training nodes', of the one
// before those and their in-neighbours', and so on. The others would be neither
// seen by the loss nor get a gradient, so loss and gradients are those of the whole
// graph; where few nodes train they are most of the work. All rows are computed if
// the recipe asks for it, or if that saves little.
func (k *task) lossOf(net *network) func(t *grad.Tape) *grad.Var {
	labels := k.labelsOf(k.split.Train)
	if hops, x := k.needed(net); hops != nil {
		return func(t *grad.Tape) *grad.Var { return net.through(t, hops, x).CrossEntropy(labels) }
	}
	return func(t *grad.Tape) *grad.Var {
		return net.Forward(t, k.graph, k.features).Rows(k.split.Train).CrossEntropy(labels)
	}
}

// needed returns what a network computes of the graph for the training nodes' sake,
// and the features that it reads; nil if that is all there is, or nearly.
func (k *task) needed(net *network) ([]hop, *grad.Var) {
	m, err := findModel(net.Recipe.Model)
	if err != nil || m.whole || net.Recipe.AllRows {
		return nil, nil
	}
	b := newBatches(k, net)
	hops := b.hops(k.split.Train)
	edges := 0
	for _, h := range hops {
		edges += h.graph.NumEdges()
	}
	if 4*edges > 3*len(hops)*k.graph.NumEdges() { // the copies of graph and features are not worth it
		return nil, nil
	}
	return hops, grad.Const(gatherRows(k.rows, hops[0].graph.From().Src))
}
