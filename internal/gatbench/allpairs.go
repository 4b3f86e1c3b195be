package gatbench

import (
	"fmt"
	"math"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
	"github.com/edgewise-ml/edgewise/internal/cli"
)

// GPS attends between all pairs of nodes of a graph. None are listed, so they cost time and hardly
// memory. pairsMost is how many graph.Complete numbers, and pairsSlow from how many on an epoch takes
// minutes.
const (
	pairsMost = math.MaxInt32
	pairsSlow = 1 << 30
)

// alongEdges is what to do instead.
const alongEdges = "take --model transformer or gat, which attend along edges"

// checkPairs returns an error if a model of nodes attends between more pairs of them than can be.
func (r *recipe) checkPairs(nodes int) error {
	if pairs := int64(nodes) * int64(nodes); r.Model == modelGPS && pairs > pairsMost {
		return cli.Misuse("--model %s: it attends between all pairs of %d nodes, %.1g, and at most %.1g can be: %s", r.Model, nodes, float64(pairs), float64(pairsMost), alongEdges)
	}
	return nil
}

// manyPairs says before a training how much a model attends to, if an epoch takes minutes; else "".
func (r *recipe) manyPairs(nodes int) string {
	if pairs := int64(nodes) * int64(nodes); r.Model == modelGPS && pairs > pairsSlow {
		return fmt.Sprintf("--model %s attends between all pairs of %d nodes, %.1g, in each layer, so an epoch takes minutes: else %s", r.Model, nodes, float64(pairs), alongEdges)
	}
	return ""
}

// checkPairs returns an error if a batch of the largest graphs has more pairs than can be.
func (r *graphRecipe) checkPairs(sizes []int) error {
	if r.model().Name != modelGPS {
		return nil
	}
	sizes, pairs := slices.Sorted(slices.Values(sizes)), int64(0)
	for _, n := range sizes[max(0, len(sizes)-r.Batch):] {
		if pairs += int64(n) * int64(n); pairs > pairsMost {
			return cli.Misuse("--model %s: it attends between all pairs of a graph's nodes, and a batch of %d of these graphs may have more than %.1g pairs: take a smaller --batch, or %s", r.Model, r.Batch, float64(pairsMost), alongEdges)
		}
	}
	return nil
}

// checkRings returns an error if a model reads who is two edges away, and these are more pairs than a
// graph has edges. The squares of degrees are at least as many, so that the pairs are seldom counted.
func (r *recipe) checkRings(g *graph.Graph) error {
	if r.Model != modelH2GCN {
		return nil
	}
	g = g.Undirected()
	paths := int64(0)
	for _, d := range g.InDegrees() {
		paths += int64(d) * int64(d)
	}
	if paths <= pairsMost {
		return nil
	}
	if _, err := g.AtDistance(2); err != nil {
		return cli.Misuse("--model %s: %w: %s, or leave out the nodes of the most neighbours", r.Model, err, alongEdges)
	}
	return nil
}
