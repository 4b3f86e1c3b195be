package main

import (
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/sample"
	"github.com/edgewise-ml/edgewise/tensor"
)

// loader returns the batches of a training: some of the training nodes at a time, or the
// ends of some of the edges, each with the neighbours that its layers look at. Where none are drawn it is all
// of them, and what a step computes is what the whole graph would give.
func (k *task) loader(net *network) *sample.Loader {
	r := &net.Recipe
	g, w := k.seen(net)
	l := &sample.Loader{
		Sampler: sample.Sampler{Graph: g, Fanout: r.fanout(), Seed: r.Seed},
		Nodes:   k.split.Train, Size: r.Batch, Features: k.rows, Weights: w,
	}
	if k.pairs != nil {
		l.Nodes, l.Edges, l.Ends = nil, k.split.Train, k.Graph
	}
	return l
}

// lossOfBatch returns the loss of the batch which the tape's step stands for.
func (k *task) lossOfBatch(net *network, l *sample.Loader) func(t *grad.Tape) *grad.Var {
	return func(t *grad.Tape) *grad.Var {
		b := l.At(t.Step())
		p, examples := k.passOf(net, b.Blocks, b.Weights, grad.Const(b.X)), b.Seeds
		if k.pairs != nil {
			p.Ends, examples = &models.Ends{From: b.From, To: b.To, Own: k.pairs.Features(b.Edges)}, b.Edges
		}
		return k.goal.loss(net.Recipe.Loss, examples)(net.Run(t, p))
	}
}

// seen returns the graph whose blocks a network reads, and the weights of its edges,
// nil if it reads none. For a model that looks at no neighbours it has no edges.
func (k *task) seen(net *network) (*graph.Graph, *tensor.Dense) {
	switch m := net.Recipe.model(); {
	case m.Symmetric:
		w := k.weights
		if w == nil {
			w = layers.SymmetricWeights(k.graph, nil)
		}
		return k.graph, w.Value()
	case m.Alone:
		return graph.Must(graph.New(k.graph.NumNodes(), nil, nil)), nil
	}
	return k.graph, nil
}

// passOf is a pass over blocks, whose edges may have weights.
func (k *task) passOf(net *network, blocks []*graph.Graph, weights []*tensor.Dense, x *grad.Var) models.Pass {
	p := models.Pass{Hops: make([]models.Hop, len(blocks)), X: x}
	for i, b := range blocks {
		p.Hops[i].Graph, p.Hops[i].Edge = b, k.edgesOf(net, b)
		if weights != nil {
			p.Hops[i].Weight = grad.Const(weights[i])
		}
	}
	return p
}
