package gatbench

import (
	"fmt"

	"github.com/edgewise-ml/edgewise/datasets"
	"github.com/edgewise-ml/edgewise/grad"
	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/layers"
	"github.com/edgewise-ml/edgewise/tensor"
)

// training returns the task that steps are made on: k itself, or for --inductive that of
// the nodes that train alone, with the edges among them. Evaluations are k's, so they meet
// nodes and edges that no step has seen. An encoding is that of the smaller graph.
func (k *task) training(r *recipe) (*task, error) {
	if !r.Inductive {
		return k, nil
	}
	nodes := k.split.Train
	part := graph.Must(k.graph.Subgraph(nodes))
	seen := &task{Dataset: k.Dataset, name: k.name, graph: part, near: new(nearby), words: k.words, form: k.form}
	seen.plain = datasets.GatherRows(k.plain, nodes)
	seen.goal, seen.split = k.goal.only(nodes), datasets.Split{Train: numbersTo(len(nodes))}
	all, err := encodingsOf(k.encoding)
	if err != nil {
		return nil, err
	}
	if seen.encoded, err = all.Of(graph.Must(k.Graph.Subgraph(nodes))); err != nil {
		return nil, fmt.Errorf("the nodes that train: %w", err)
	}
	seen.join()
	if k.edges != nil {
		seen.edges = datasets.GatherRows(k.edges, part.From().Edges).(*tensor.Dense)
	}
	if k.looped != nil {
		w := tensor.New(part.NumEdges(), 1)
		for i, e := range part.From().Edges {
			w.Data[i] = k.looped[e]
		}
		seen.weights = layers.SymmetricWeights(part, grad.Const(w))
	}
	return seen, nil
}
