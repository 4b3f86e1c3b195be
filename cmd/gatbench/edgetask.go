package main

import (
	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/models"
)

// taskEdge is what --task says where edges are told apart. Its task is one of nodes whose
// examples are edges: a network of nodes, and a head that reads the rows of both ends.
const taskEdge = "edge"

// pairs are the edges of a graph as a head reads them.
type pairs struct{ *models.Pairing }

// newPairs returns the edges of a dataset; both directions are meant if undirected is set.
func newPairs(d *datasets.Dataset, g *goal, undirected bool) (*pairs, error) {
	named := g.Goal
	named.Names = d.ClassNames
	p, err := models.NewPairing(d, &named, undirected)
	return &pairs{p}, err
}

// head returns the head of a recipe's networks; nil: nodes are told apart.
func (k *task) head(r *recipe) *models.Pairs {
	if k.pairs == nil {
		return nil
	}
	return &models.Pairs{In: r.width(), Own: widthOf(k.pairs.Own), Mirrored: k.pairs.Mirrored}
}

// edgesLearnt makes the edges of a dataset the examples of its task.
func (k *task) edgesLearnt(undirected bool) (err error) {
	k.goal = goalOf(k.Dataset)
	if k.pairs, err = newPairs(k.Dataset, k.goal, undirected); err != nil {
		return misuse("--dataset %s: %w", k.name, err)
	}
	return nil
}

// learnable returns an error for a dataset that has nothing to learn of what a task is about; an
// empty one stands for nodes or edges, as the data has it.
func learnable(d *datasets.Dataset, what, name string) error {
	edges := d.LearnsEdges()
	switch nodes := len(d.Labels) > 0 || d.MultiLabels != nil || d.Targets != nil; {
	case what == taskNode && edges:
		return misuse("--dataset %s: the column of --label is one of its edges: use --task edge, or name a column of the nodes with --label", name)
	case what == taskEdge && !edges:
		return misuse("--dataset %s: its edges have no classes, labels or numbers to predict: name the column to predict, in the table of edges, with --label COLUMN", name)
	case !edges && !nodes && len(d.FeatureNames) > 0:
		return misuse("--dataset %s: its nodes have no classes, labels or numbers to predict: name the column to predict with --label COLUMN", name)
	case !edges && !nodes:
		return misuse("--dataset %s: its nodes have no classes, labels or numbers to predict", name)
	case d.Classes == 1 && (d.Labels != nil || d.EdgeLabels != nil):
		noun := "nodes"
		if edges {
			noun = "edges"
		}
		return misuse("--dataset %s: all its %s are of one class, so there is nothing to learn", name, noun)
	}
	return nil
}
