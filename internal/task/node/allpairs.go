package node

import (
	"fmt"
	"math"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
)

// GPS attends between all pairs of nodes of a graph. None are listed, so they cost time and hardly
// memory. pairsMost is how many graph.Complete numbers, and pairsSlow from how many on an epoch takes
// minutes.
const (
	PairsMost = math.MaxInt32
	pairsSlow = 1 << 30
)

// AlongEdges is what to do instead.
const AlongEdges = "take --model transformer or gat, which attend along edges"

// checkPairs returns an error if a model of nodes attends between more pairs of them than can be.
func (r *Recipe) checkPairs(nodes int) error {
	if pairs := int64(nodes) * int64(nodes); r.Model == modelGPS && pairs > PairsMost {
		return cli.Misuse("--model %s: it attends between all pairs of %d nodes, %.1g, and at most %.1g can be: %s", r.Model, nodes, float64(pairs), float64(PairsMost), AlongEdges)
	}
	return nil
}

// manyPairs says before a training how much a model attends to, if an epoch takes minutes; else "".
func (r *Recipe) manyPairs(nodes int) string {
	if pairs := int64(nodes) * int64(nodes); r.Model == modelGPS && pairs > pairsSlow {
		return fmt.Sprintf("--model %s attends between all pairs of %d nodes, %.1g, in each layer, so an epoch takes minutes: else %s", r.Model, nodes, float64(pairs), AlongEdges)
	}
	return ""
}

// checkRings returns an error if a model reads who is two edges away, and these are more pairs than a
// graph has edges. The squares of degrees are at least as many, so that the pairs are seldom counted.
func (r *Recipe) checkRings(g *graph.Graph) error {
	if r.Model != modelH2GCN {
		return nil
	}
	g = graph.Undirected(g)
	paths := int64(0)
	for _, d := range g.InDegrees() {
		paths += int64(d) * int64(d)
	}
	if paths <= PairsMost {
		return nil
	}
	if _, err := graph.AtDistance(g, 2); err != nil {
		return cli.Misuse("--model %s: %w: %s, or leave out the nodes of the most neighbours", r.Model, err, AlongEdges)
	}
	return nil
}
