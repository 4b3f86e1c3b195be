package main

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/tensor"
)

// loopedKinds is how many kinds of edges the layers read: the loops are one more.
func (r *recipe) loopedKinds() int {
	if r.Kinds == 0 {
		return 0
	}
	return r.Kinds + 1
}

// ofEdges says what the layers read of edges, after what they read of nodes.
func (r *recipe) ofEdges() string {
	switch {
	case r.EdgeIn > 0:
		return fmt.Sprintf("; of edges %d", r.EdgeIn)
	case r.Kinds > 0:
		return fmt.Sprintf("; of edges their kinds, %d", r.Kinds)
	}
	return ""
}

// there says what the dataset has of edges.
func (k *task) there() edgesThere {
	kinds := 0
	if k.EdgeKinds.Known() {
		kinds = len(k.EdgeKinds.Names)
	}
	return edgesThere{
		data: k.Name, width: widthOf(k.EdgeFeatures), kinds: kinds,
		readers: modelNames(mayNumbers, wantsNumbers), instead: "gat", how: "a table of edges says them in a column of words that is called relation",
	}
}

// suit makes the graph and the features of its edges what the layers of a recipe want. Loops have
// a kind of their own, and zeros as features; the others are of mean 0 and deviation 1 if the
// features of nodes are.
func (k *task) suit(r *recipe) error {
	if err := r.model().edges.check(r.Model, r.EdgeIn, r.Kinds); err != nil {
		return misuse("--model %w", err)
	}
	if err := r.checkPairs(k.graph.NumNodes()); err != nil {
		return err
	}
	if err := r.checkRings(k.graph); err != nil {
		return err
	}
	from := k.graph.From().Edges // of the graph without loops
	if r.EdgeIn > 0 {
		x := k.EdgeFeatures
		if r.Features == formStandard {
			y, err := (&datasets.Dataset{Graph: k.Graph, Features: x}).Standardised()
			if err != nil {
				return err
			}
			x = y.(*tensor.Dense)
		}
		k.edges = tensor.New(k.graph.NumEdges(), r.EdgeIn)
		for e, own := range from {
			if own >= 0 {
				copy(k.edges.Row(e), x.Row(int(own)))
			}
		}
	}
	if r.Kinds > 0 && k.graph.Kinds() == nil {
		order, list := k.graph.EdgeOrder(), make([]int32, len(from))
		for e, own := range from {
			list[order[e]] = int32(r.Kinds)
			if own >= 0 {
				list[order[e]] = k.EdgeKinds.Of[own]
			}
		}
		g, err := k.graph.WithKinds(list)
		if err != nil {
			return err
		}
		k.graph, k.near = g, new(nearby)
	}
	return nil
}

// edgesOf returns what a network reads of the edges of g, a part of the task's graph; of nil, of
// the whole one.
func (k *task) edgesOf(n *network, g *graph.Graph) *grad.Var {
	switch {
	case n.Recipe.EdgeIn == 0:
		return nil
	case g == nil:
		return grad.Const(k.edges)
	}
	return grad.Const(datasets.GatherRows(k.edges, g.From().Edges))
}
