package main

import (
	"cmp"
	"fmt"

	"github.com/edgewise-ml/edgewise/models"
)

// model returns what the recipe's model is like.
func (r *graphRecipe) model() models.Traits {
	m, err := models.Named(cmp.Or(r.Model, modelGIN))
	if err != nil || models.TraitsOf(m).Graphs == nil {
		m = models.GIN{} // flags and files are checked
	}
	return models.TraitsOf(m)
}

// suit makes the graphs what the convolutions of a recipe want: with loops, or with kinds of
// edges.
func (k *graphTask) suit(r *graphRecipe) error {
	if err := r.checkPairs(k.Sizes()); err != nil {
		return err
	}
	d := *k.Graphs
	if r.Kinds > 0 {
		kinds, _ := k.EdgeKinds()
		order, list := k.Graph.EdgeOrder(), make([]int32, len(kinds))
		for e, kind := range kinds {
			list[order[e]] = kind
		}
		g, err := k.Graph.WithKinds(list)
		if err != nil {
			return err
		}
		d.Graph = g
	}
	if r.model().Graphs.Loops {
		d.Graph, d.EdgeFeatures, d.EdgeNumbers = k.Graph.WithSelfLoops(), nil, 0
	}
	k.Graphs = &d
	return nil
}

// edges decides what the network reads of edges.
func (c *trainCommand) edges(k *graphTask, r *graphRecipe) (err error) {
	there, without := k.there(), or(c.NoEdgeFeatures, false)
	switch {
	case without && c.Resume != "":
		return misuse("--resume %s: a run goes on with its own settings: leave --no-edge-features out", c.Resume)
	case c.Resume != "":
		if err := there.serve(r.EdgeIn, r.Kinds); err != nil {
			return misuse("--resume %s: %w", c.Resume, err)
		}
		return k.suit(r)
	}
	m := r.model()
	if r.EdgeIn, r.Kinds, err = there.read(m.Name, m.Graphs.Edges, without); err != nil {
		return err
	}
	return k.suit(r)
}

// there says what the graphs have of edges.
func (k *graphTask) there() edgesThere {
	_, kinds := k.EdgeKinds()
	return edgesThere{
		data: k.Name, width: widthOf(k.EdgeFeatures), kinds: kinds,
		readers: models.GraphNames(models.MayNumbers, models.WantsNumbers), instead: modelGIN, how: "edge_type in lines of JSON, or NAME_edge_labels.txt",
	}
}

// checkEdges returns an error for a recipe, as a file has it, whose model does not read what it
// says of edges.
func (r *graphRecipe) checkEdges() error {
	m := r.model()
	return m.Graphs.Edges.Check(m.Name, r.EdgeIn, r.Kinds)
}

// reads says what the networks of a recipe read.
func (k *graphTask) reads(r *graphRecipe) string {
	if how := r.plan(0, 0).Reading(); how != "" {
		plain := *r
		plain.Readout, plain.Pool = "", ""
		return k.reads(&plain) + "; " + how
	}
	switch {
	case r.EdgeIn > 0:
		return fmt.Sprintf("%s; %d per edge", k.feeds, r.EdgeIn)
	case r.Kinds > 0 && k.EdgeNumbers > 0:
		return fmt.Sprintf("%s; %d kinds of edges, without their other features (%d)", k.feeds, r.Kinds, k.EdgeNumbers)
	case r.Kinds > 0:
		return fmt.Sprintf("%s; %d kinds of edges", k.feeds, r.Kinds)
	}
	return k.feeds
}
