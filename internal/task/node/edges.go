package node

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
	"github.com/edgewise-ml/edgewise/internal/task"
	"github.com/edgewise-ml/edgewise/models"
	"github.com/edgewise-ml/edgewise/tensor"
)

// loopedKinds is how many kinds of edges the layers read: the loops are one more.
func (r *Recipe) loopedKinds() int {
	if r.Kinds == 0 {
		return 0
	}
	return r.Kinds + 1
}

// ofEdges says what the layers read of edges, after what they read of nodes.
func (r *Recipe) ofEdges() string {
	switch {
	case r.EdgeIn > 0:
		return fmt.Sprintf("; %d per edge", r.EdgeIn)
	case r.Kinds > 0:
		return fmt.Sprintf("; %d kinds of edges", r.Kinds)
	}
	return ""
}

// There says what the dataset has of edges.
func (k *Examples) There() task.EdgesThere {
	kinds := 0
	if k.EdgeKinds.Known() {
		kinds = len(k.EdgeKinds.Names)
	}
	return task.EdgesThere{
		Data: k.Name, Width: task.WidthOf(k.EdgeFeatures), Kinds: kinds,
		Readers: models.Names(models.MayNumbers, models.WantsNumbers), Instead: "gat", How: "a table of edges says them in a column of words that is called relation",
		Beside: k.pairs != nil,
	}
}

// Suit makes the graph and the features of its edges what the layers of a recipe and the head of
// edges want. Loops have a kind of their own, and zeros as features; the others are of mean 0 and
// deviation 1 if the features of nodes are.
func (k *Examples) Suit(r *Recipe) error {
	if err := r.Traits().Edges.Check(r.Model, r.EdgeIn, r.Kinds); err != nil {
		return cli.Misuse("--model %w", err)
	}
	if err := r.checkPairs(k.Looped.NumNodes()); err != nil {
		return err
	}
	if err := r.checkRings(k.Looped); err != nil {
		return err
	}
	x, err := k.rowsOfEdges(r)
	if err != nil {
		return err
	}
	if k.pairs != nil {
		k.pairs.Describe(x, k.EdgeCodes...)
		k.near = new(nearby)
	}
	if r.EdgeIn == 0 && r.Kinds == 0 {
		return nil
	}
	looped := (&datasets.Dataset{Graph: k.Graph, EdgeFeatures: x, EdgeKinds: k.EdgeKinds}).WithSelfLoops() // k.graph again
	if r.EdgeIn > 0 {
		k.edges = looped.EdgeFeatures
	}
	if r.Kinds > 0 && k.Looped.Kinds() == nil {
		g, err := looped.EdgeKinds.On(k.Looped, int32(r.Kinds))
		if err != nil {
			return err
		}
		k.Looped, k.near = g, new(nearby)
	}
	return nil
}

// rowsOfEdges returns the features of the data's edges as a recipe has them; nil: none are read.
func (k *Examples) rowsOfEdges(r *Recipe) (*tensor.Dense, error) {
	x := k.EdgeFeatures
	switch {
	case x == nil || r.NoEdges:
		return nil, nil
	case r.Features != task.FormStandard:
		return x, nil
	}
	y, err := k.prepared.Edges.Apply(x)
	if err != nil {
		return nil, err
	}
	return y.(*tensor.Dense), nil
}

// edgesOf returns what a network reads of the edges of g, a part of the task's graph; of nil, of
// the whole one.
func (k *Examples) edgesOf(n *Network, g *graph.Graph) *grad.Var {
	switch {
	case n.Recipe.EdgeIn == 0:
		return nil
	case g == nil:
		return grad.Const(k.edges)
	}
	return grad.Const(datasets.GatherRows(k.edges, g.From().Edges))
}

// Hop is the whole graph as a network's layers see it.
func (k *Examples) Hop(n *Network) models.Hop {
	h := models.Hop{Graph: k.Looped}
	if n.Recipe.Traits().Weighted {
		h.Weight = k.EdgeWeights
	}
	h.Edge = k.edgesOf(n, nil)
	return h
}

// checkWeights returns an error if a model divides by the roots of sums that may be
// negative.
func (k *Examples) checkWeights(m models.Traits) error {
	if !m.Weighted {
		return nil
	}
	to := k.Graph.Destinations()
	for e, w := range k.Weights {
		if !(w >= 0) {
			return cli.Misuse("--dataset %s: the edge from node %d to node %d has the weight %v, and --model %s divides by roots of their sums: make them 0 or more, or take a model that reads no weights, such as gat",
				k.Called, k.Graph.In().Cols[e], to[e], w, m.Name)
		}
	}
	return nil
}

// Weighing says what becomes of the weights of the edges, "" if there are none.
func (k *Examples) Weighing(m models.Traits) string {
	switch {
	case k.Weights == nil:
		return ""
	case m.Weighted:
		return "used"
	}
	return "not used"
}
