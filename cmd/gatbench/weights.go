package main

import "github.com/edgewise-ml/edgewise/models"

// hop is the whole graph as a network's layers see it.
func (k *task) hop(n *network) models.Hop {
	h := models.Hop{Graph: k.graph}
	if n.Recipe.model().Weighted {
		h.Weight = k.weights
	}
	h.Edge = k.edgesOf(n, nil)
	return h
}

// checkWeights returns an error if a model divides by the roots of sums that may be
// negative.
func (k *task) checkWeights(m models.Traits) error {
	if !m.Weighted {
		return nil
	}
	to := k.Graph.Destinations()
	for e, w := range k.Weights {
		if !(w >= 0) {
			return misuse("--dataset %s: the edge from node %d to node %d has the weight %v, and --model %s divides by roots of their sums: make them 0 or more, or take a model that reads no weights, such as gat",
				k.name, k.Graph.In().Cols[e], to[e], w, m.Name)
		}
	}
	return nil
}

// weighing says what becomes of the weights of the edges, "" if there are none.
func (k *task) weighing(m models.Traits) string {
	switch {
	case k.Weights == nil:
		return ""
	case m.Weighted:
		return "used"
	}
	return "not used"
}
