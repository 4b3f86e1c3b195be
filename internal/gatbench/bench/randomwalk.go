package bench

import (
	"github.com/edgewise-ml/edgewise/sample"
)

// walkLength is the steps of a walk, as node2vec's authors have it.
const walkLength = 80

// walkBenchmarks are a random walk from each node of a graph.
func walkBenchmarks(threads int, c sparseChoice) []Benchmark {
	graphs := c.graphs
	if len(graphs) == 0 {
		graphs = []*Graph{c.sizes["pubmed"]}
	}
	var out []Benchmark
	for _, g := range graphs {
		for _, w := range []struct {
			name            string
			back, elsewhere float64
		}{{"deepwalk", 1, 1}, {"node2vec", 0.25, 4}, {"node2vec_far", 4, 0.25}} {
			out = append(out, g.only(Benchmark{
				name: "walks/" + w.name + "/" + g.name, op: "walks/" + w.name, lanes: threads,
				params: map[string]any{
					"graph": g.name, "nodes": g.nodes, "edges": g.edges, "length": walkLength, "p": w.back, "q": w.elsewhere, "threads": threads,
				},
				steps: float64(g.nodes * walkLength),
				prepare: func() workload {
					walks := sample.Walks{Graph: g.get(), Length: walkLength, Return: w.back, Explore: w.elsewhere, Seed: 1}
					round, nodes := uint64(0), walks.Graph.DstRows()
					return workload{call: func() {
						round++
						if _, err := walks.From(nodes, round); err != nil {
							panic(err) // the nodes are the graph's
						}
					}}
				},
			}))
		}
	}
	return out
}
