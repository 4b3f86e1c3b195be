package task

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/edgewise-ml/edgewise/graph"
)

// EdgeDrawer returns what draws the edges of a step, which counts from 1: all of them in an
// epoch, a batch in each step, in an order that follows from the seed and the step alone.
func EdgeDrawer(g *graph.Graph, seed uint64, batch int) func(step uint64) *graph.Graph {
	edges := g.NumEdges()
	if batch >= edges {
		return func(uint64) *graph.Graph { return g }
	}
	each := uint64((edges + batch - 1) / batch)
	epoch, order := uint64(math.MaxUint64), NumbersTo(edges)
	return func(step uint64) *graph.Graph {
		if e := (step - 1) / each; e != epoch {
			epoch, order = e, NumbersTo(edges)
			rand.New(rand.NewPCG(seed+1, e)).Shuffle(edges, func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		lo := int((step-1)%each) * batch
		return graph.Must(graph.EdgeSubgraph(g, slices.Sorted(slices.Values(order[lo:min(lo+batch, edges)]))))
	}
}

// SomeEdges returns so many of the edges of g, spread over all.
func SomeEdges(g *graph.Graph, most int) *graph.Graph {
	n := g.NumEdges()
	if n <= most {
		return g
	}
	some := make([]int32, most)
	for i := range some {
		some[i] = int32(math.Floor(float64(i) * float64(n) / float64(most)))
	}
	return graph.Must(graph.EdgeSubgraph(g, some))
}

// NumbersTo returns the numbers from 0 up to n.
func NumbersTo(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(i)
	}
	return ids
}
